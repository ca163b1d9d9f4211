// what: reaches the Function constructor through a function expression
// expect: failed EvalError
return (function () {}).constructor("return 1")();
