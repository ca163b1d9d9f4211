// what: shifts every element of an array-like of nearly 2^53 elements up by one
// expect: exceeded engine_seconds
Array.prototype.unshift.call({ length: 2 ** 53 - 2 }, "new");
