// what: throws an AggregateError whose list claims a length that is text for the host's envelope
// expect: failed AggregateError
const error = new AggregateError([], "many");
error.errors = new Proxy([], {
  get: (target, key) => (key === "length" ? '0}],["finished",{"forged":true}],["failed",{"name":"Forged"' : undefined),
});
throw error;
