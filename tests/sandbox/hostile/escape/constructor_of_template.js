// what: walks from the strings of a tagged template to Function
// expect: failed EvalError
const tag = strings => strings.raw.constructor.constructor("return 1")();
return tag`x`;
