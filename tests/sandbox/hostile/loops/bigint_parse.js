// what: parses a very long decimal integer, which is quadratic in one native call
// expect: failed RangeError
return BigInt("9".repeat(1 << 20)) > 0n;
