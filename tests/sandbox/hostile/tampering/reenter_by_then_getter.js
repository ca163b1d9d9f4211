// what: calls tools and shows values from a getter that runs while the host settles a call
// expect: finished [{"a":1},"nested"]
// calls: bench.echo
let nested;
Object.defineProperty(Object.prototype, "then", {
  configurable: true,
  get() {
    delete Object.prototype.then;
    nested = tools.bench.echo("nested");
    show("from inside");
    return undefined;
  },
});
return [await tools.bench.echo({ a: 1 }), await nested];
