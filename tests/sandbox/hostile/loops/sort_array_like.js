// what: sorts an array-like object with the largest legal length
// expect: exceeded engine_seconds
Array.prototype.sort.call({ length: 2 ** 53 - 1 });
