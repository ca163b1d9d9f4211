// what: reaches the AsyncFunction constructor, which has no global name
// expect: failed EvalError
return await (async () => {}).constructor("return 1")();
