// what: compiles text by constructing Function with parameters
// expect: failed EvalError
return new Function("a", "b", "return a + b")(1, 2);
