// what: throws from a getter that runs while the host settles a call
// expect: failed RangeError
// calls: bench.echo
Object.defineProperty(Object.prototype, "then", {
  configurable: true,
  get() {
    delete Object.prototype.then;
    throw new RangeError("from inside");
  },
});
return await tools.bench.echo({ a: 1 });
