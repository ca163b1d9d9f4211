// what: evaluates text with eval
// expect: failed EvalError
return eval("1 + 1");
