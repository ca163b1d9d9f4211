// what: replaces every error constructor and the methods of Error.prototype, then fails
// expect: failed TypeError
// calls: bench.echo
for (const name of ["Error", "TypeError", "RangeError", "EvalError", "InternalError", "AggregateError"]) {
  globalThis[name] = function () {
    throw "forged";
  };
}
await tools.bench.echo(1);
null.property;
