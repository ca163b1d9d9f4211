// what: puts a proxy that watches every lookup behind the global object
// expect: finished {"a":1}
// calls: bench.echo
Object.setPrototypeOf(
  globalThis,
  new Proxy(Object.prototype, {
    has: () => true,
    get: () => () => "forged",
  }),
);
return await tools.bench.echo({ a: 1 });
