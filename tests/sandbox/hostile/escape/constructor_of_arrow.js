// what: reaches the Function constructor through an arrow function
// expect: failed EvalError
return (() => {}).constructor("return globalThis")();
