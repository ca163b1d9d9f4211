// what: shrinks the source buffer from the species constructor of slice
// expect: finished "survived"
const buffer = new ArrayBuffer(4096, { maxByteLength: 8192 });
const bytes = new Uint8Array(buffer);
bytes.constructor = {
  [Symbol.species]: function (length) {
    buffer.resize(16);
    return new Uint8Array(length);
  },
};
bytes.slice(0, 4096);
return "survived";
