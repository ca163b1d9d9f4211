// what: prints a very long integer in decimal, which is quadratic in one native call
// expect: exceeded engine_seconds
const long = (1n << 1000000n) - 1n;
return long.toString().length;
