// what: throws an AggregateError that contains itself many times
// expect: failed AggregateError
const error = new AggregateError([], "self");
error.errors = new Array(1000).fill(error);
throw error;
