// what: shifts, divides and wraps integers at the edges of the machine word
// expect: finished "survived"
const edges = [0n, 1n, -1n, 2n ** 31n, 2n ** 32n - 1n, -(2n ** 63n), 2n ** 64n, 2n ** 1000n, -(2n ** 1000n) + 1n];
for (const a of edges) {
  for (const b of edges) {
    for (const act of [() => a + b, () => a * b, () => a / b, () => a % b, () => a & b, () => a ^ b, () => a << (b % 4096n), () => a >> b, () => BigInt.asIntN(Number(b & 127n), a), () => BigInt.asUintN(Number(b & 127n), a)]) {
      try {
        act();
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
    }
  }
}
return "survived";
