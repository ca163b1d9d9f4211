// what: reaches eval as a property of the global object, under another name
// expect: failed EvalError
const { eval: run } = globalThis;
return run("this");
