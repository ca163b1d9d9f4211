// what: reaches the GeneratorFunction constructor, which has no global name
// expect: failed EvalError
return (function* () {}).constructor("yield 1")().next().value;
