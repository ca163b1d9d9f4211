// what: reaches the AsyncGeneratorFunction constructor, which has no global name
// expect: failed EvalError
return (await (async function* () {}).constructor("yield 1")().next()).value;
