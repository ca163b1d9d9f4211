// what: reverses an array-like of 2^53 - 1 elements inside one native call
// expect: exceeded engine_seconds
Array.prototype.reverse.call({ length: 2 ** 53 - 1 });
