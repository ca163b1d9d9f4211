// what: concatenates an object that claims to be an array of 2^53 - 1 holes
// expect: exceeded engine_seconds
[].concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true });
