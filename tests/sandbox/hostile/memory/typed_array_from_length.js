// what: asks a typed array for a length whose byte size overflows 32 bits
// expect: failed RangeError
return new Float64Array(2 ** 29 + 1).length;
