// what: shrinks the buffer of a typed array from the comparator of its sort
// expect: finished "survived"
for (const type of [Uint8Array, Int32Array, Float64Array, BigInt64Array]) {
  const buffer = new ArrayBuffer(1024, { maxByteLength: 4096 });
  const view = new type(buffer);
  view.sort(() => {
    buffer.resize(8);
    return 1;
  });
  view.toSorted(() => {
    buffer.resize(4096);
    return -1;
  });
}
return "survived";
