// what: walks from the answer of a tool through constructor to Function
// expect: failed EvalError
// calls: bench.echo
const answer = await tools.bench.echo({ a: [1] });
return answer.a.constructor.constructor("return 1")();
