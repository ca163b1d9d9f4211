// what: makes Promise.prototype.constructor a getter that throws
// expect: failed TypeError | failed Deadlock
// calls: bench.echo
Object.defineProperty(Promise.prototype, "constructor", {
  get() {
    throw new TypeError("no constructor");
  },
});
return await tools.bench.echo({ a: 1 });
