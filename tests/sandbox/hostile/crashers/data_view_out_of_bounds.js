// what: uses data views whose window has left the buffer
// expect: finished ["TypeError","TypeError","RangeError"]
const names = [];
const buffer = new ArrayBuffer(64, { maxByteLength: 64 });
const view = new DataView(buffer, 32, 16);
buffer.resize(40);
for (const act of [() => view.byteLength, () => view.getInt8(0), () => new DataView(buffer, 41)]) {
  try {
    names.push(typeof act());
  } catch (error) {
    names.push(error.name);
  }
}
return names;
