// what: reaches the Function constructor through a bound function
// expect: failed EvalError
return (() => {}).bind(null).constructor("return 1")();
