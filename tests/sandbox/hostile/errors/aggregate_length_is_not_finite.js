// what: throws an AggregateError whose list claims an infinite number of errors
// expect: failed AggregateError
const error = new AggregateError([], "many");
error.errors = new Proxy([], { get: (target, key) => (key === "length" ? Infinity : undefined) });
throw error;
