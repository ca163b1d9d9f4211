// what: lets the species constructor of ArrayBuffer.slice return small, foreign and detached buffers
// expect: finished "survived"
const buffer = new ArrayBuffer(1024, { maxByteLength: 2048 });
for (const species of [
  () => new ArrayBuffer(1),
  () => buffer,
  () => ({}),
  () => {
    const other = new ArrayBuffer(1024);
    other.transfer();
    return other;
  },
  length => {
    buffer.resize(8);
    return new ArrayBuffer(length);
  },
]) {
  buffer.resize(1024);
  buffer.constructor = { [Symbol.species]: function (length) { return species(length); } };
  try {
    buffer.slice(0, 1024);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
  }
}
return "survived";
