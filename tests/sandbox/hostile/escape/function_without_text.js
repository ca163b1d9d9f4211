// what: compiles the empty function, which is still a compilation
// expect: failed EvalError
return new Function()();
