// what: evaluates text in the global scope with an indirect eval
// expect: failed EvalError
return (0, eval)("globalThis");
