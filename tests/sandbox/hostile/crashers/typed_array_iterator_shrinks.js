// what: shrinks the buffer while a typed array iterator is half way
// expect: finished "survived"
const buffer = new ArrayBuffer(1024, { maxByteLength: 1024 });
try {
  for (const value of new Uint8Array(buffer, 512, 256)) buffer.resize(100);
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
}
for (const [index] of new Uint8Array(buffer).entries()) buffer.resize(Math.max(0, buffer.byteLength - 10));
return "survived";
