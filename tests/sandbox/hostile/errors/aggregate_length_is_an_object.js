// what: throws an AggregateError whose list has an object with a hostile conversion as length
// expect: failed AggregateError
let reads = 0;
const error = new AggregateError([], "many");
const length = { valueOf: () => 0, toString: () => "]]]]", [Symbol.toPrimitive]: hint => (reads++ ? '"' : 0) };
error.errors = new Proxy([], { get: (target, key) => (key === "length" ? length : undefined) });
throw error;
