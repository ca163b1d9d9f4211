// what: returns an empty array that claims four thousand million elements
// expect: exceeded engine_seconds
return new Array(2 ** 32 - 1);
