// what: reaches the Function constructor through a native function
// expect: failed EvalError
return Math.max.constructor("return 1")();
