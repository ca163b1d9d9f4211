// what: throws an AggregateError of twenty thousand errors
// expect: failed AggregateError
throw new AggregateError(
  Array.from({ length: 20000 }, (_, i) => new Error(`error ${i}`)),
  "many",
);
