// what: shrinks the buffer while fill, copyWithin, with and indexOf coerce their arguments
// expect: finished "survived"
const buffer = new ArrayBuffer(4096, { maxByteLength: 4096 });
const bytes = new Uint8Array(buffer);
const shrink = value => ({ valueOf: () => (buffer.resize(16), value) });
for (const act of [
  () => bytes.fill(shrink(1), 0, 4096),
  () => bytes.fill(1, shrink(0), 4096),
  () => bytes.copyWithin(0, shrink(2048), 4096),
  () => bytes.copyWithin(shrink(0), 1024),
  () => bytes.with(shrink(4000), 1),
  () => bytes.indexOf(0, shrink(100)),
  () => bytes.lastIndexOf(0, shrink(4095)),
  () => bytes.includes(undefined, shrink(2000)),
  () => bytes.subarray(shrink(100), 4000),
  () => bytes.join({ toString: () => (buffer.resize(16), ",") }),
]) {
  buffer.resize(4096);
  try {
    act();
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
  }
}
return "survived";
