// what: parses integers from texts at the edges of every radix and length
// expect: finished "survived"
for (const text of ["", " ", "-", "0x", "0b2", "0o8", "1e3", "1_0", "-0x1", "\u00a01\ufeff", "0".repeat(100000), "0b" + "1".repeat(100000), "0x" + "f".repeat(50000)]) {
  try {
    BigInt(text);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
  }
}
return "survived";
