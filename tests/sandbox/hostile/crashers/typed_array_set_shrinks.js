// what: shrinks the target while set reads from a hostile source
// expect: finished "survived"
const buffer = new ArrayBuffer(1024, { maxByteLength: 1024 });
const bytes = new Uint8Array(buffer);
const source = {
  length: 1024,
  get 0() {
    buffer.resize(4);
    return 1;
  },
};
bytes.set(source);
buffer.resize(1024);
try {
  bytes.set([1, 2, 3], { valueOf: () => (buffer.resize(0), 1000) });
} catch (error) {
  if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
}
return "survived";
