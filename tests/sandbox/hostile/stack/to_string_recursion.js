// what: recurses through toString
// expect: failed RangeError
const node = { toString: () => `${node}` };
return String(node);
