// what: reaches the Function constructor through the functions that the host put in the world
// expect: finished ["EvalError","EvalError","EvalError","EvalError","EvalError"]
// calls: bench.echo
return [tools.bench.echo, show, store, console.log, sleep].map(f => {
  try {
    return typeof f.constructor("return 1")();
  } catch (error) {
    return error.name;
  }
});
