// what: reads and writes through length-tracking views while the buffer grows and shrinks
// expect: finished "survived"
const buffer = new ArrayBuffer(0, { maxByteLength: 1 << 16 });
const views = [Uint8Array, Uint16Array, Int32Array, Float64Array].map(type => new type(buffer));
for (let i = 0; i < 2000; i++) {
  buffer.resize((i * 7919) % (1 << 16));
  for (const view of views) {
    view[view.length - 1] = i;
    view[view.length] = i;
    view.at(-1);
    [...view.subarray(-3)];
  }
}
return "survived";
