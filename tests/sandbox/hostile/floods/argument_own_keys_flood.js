// what: passes a proxy that claims half a million keys
// expect: exceeded engine_seconds
// calls: bench.echo
const keys = Array.from({ length: 500000 }, (_, i) => "k" + i);
const claim = new Proxy({}, {
  ownKeys: () => keys,
  getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
  get: (target, key) => (key === "toJSON" ? undefined : 1),
});
await tools.bench.echo(claim);
return "sent";
