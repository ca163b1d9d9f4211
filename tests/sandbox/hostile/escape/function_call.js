// what: compiles text by calling Function
// expect: failed EvalError
return Function("return 1")();
