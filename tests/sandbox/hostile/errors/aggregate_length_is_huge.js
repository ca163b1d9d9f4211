// what: throws an AggregateError whose list claims 2^53 - 1 errors
// expect: failed AggregateError
const error = new AggregateError([], "many");
error.errors = new Proxy([], { get: (target, key) => (key === "length" ? 2 ** 53 - 1 : undefined) });
throw error;
