// what: replaces every function of Reflect and the Proxy constructor
// expect: finished {"a":1}
// calls: bench.echo
for (const name of Object.getOwnPropertyNames(Reflect)) Reflect[name] = () => "forged";
globalThis.Proxy = function () {
  return {};
};
return await tools.bench.echo({ a: 1 });
