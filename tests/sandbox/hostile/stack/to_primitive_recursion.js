// what: recurses through Symbol.toPrimitive
// expect: failed RangeError
const node = { [Symbol.toPrimitive]: () => +node };
return node * 2;
