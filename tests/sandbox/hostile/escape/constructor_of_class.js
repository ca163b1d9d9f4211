// what: reaches the Function constructor through a class
// expect: failed EvalError
return (class {}).constructor("return 1")();
