// what: replaces resolve, reject, all and withResolvers of Promise
// expect: finished {"a":1}
// calls: bench.echo
for (const name of ["resolve", "reject", "all", "allSettled", "any", "race", "withResolvers", "try"]) {
  Promise[name] = () => "forged";
}
return await tools.bench.echo({ a: 1 });
