// what: resizes and transfers a buffer from the coercion of its own resize
// expect: finished "survived"
const buffer = new ArrayBuffer(16, { maxByteLength: 64 });
for (const act of [
  () => buffer.resize({ valueOf: () => (buffer.resize(1), 64) }),
  () => buffer.resize({ valueOf: () => (buffer.transfer(), 32) }),
  () => buffer.slice({ valueOf: () => 0 }, 16),
]) {
  try {
    act();
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
  }
}
return "survived";
