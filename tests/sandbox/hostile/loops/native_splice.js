// what: removes one element at the front of an array-like of 2^53 - 1 elements
// expect: exceeded engine_seconds
Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1);
