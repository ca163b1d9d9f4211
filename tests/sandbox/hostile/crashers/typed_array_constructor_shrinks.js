// what: shrinks a resizable buffer while a typed array is being constructed over it
// expect: finished "survived"
for (let i = 0; i < 100; i++) {
  const buffer = new ArrayBuffer(64, { maxByteLength: 128 });
  try {
    new Float64Array(buffer, {
      valueOf() {
        buffer.resize(8);
        return 16;
      },
    }, 4)[3] = 1.5;
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
  }
}
return "survived";
