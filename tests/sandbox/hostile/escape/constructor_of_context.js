// what: walks from every value the host gave to Function
// expect: finished ["EvalError","EvalError","EvalError"]
return [context, console, budget].map(value => {
  try {
    return typeof ({}.constructor.getPrototypeOf(value) ?? {}).constructor.constructor("return 1")();
  } catch (error) {
    return error.name;
  }
});
