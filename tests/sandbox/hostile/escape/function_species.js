// what: makes Function the species of an array, so that native code constructs it with text
// expect: failed EvalError
const list = ["return 1"];
list.constructor = { [Symbol.species]: Function };
return typeof list.map(x => x);
