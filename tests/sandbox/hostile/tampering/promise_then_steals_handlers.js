// what: replaces then to collect the functions that host code might hand over
// expect: finished 0
// calls: bench.echo
const stolen = [];
const then = Promise.prototype.then;
Promise.prototype.then = function (...handlers) {
  stolen.push(...handlers);
  return Reflect.apply(then, this, handlers);
};
await tools.bench.echo(1);
await (async () => tools.bench.echo(2))();
return stolen.filter(handler => !/native code/.test(String(handler))).length;
