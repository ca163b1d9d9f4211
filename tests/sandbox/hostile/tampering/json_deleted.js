// what: deletes JSON altogether
// expect: finished {"a":1}
// calls: bench.echo
delete globalThis.JSON;
return await tools.bench.echo({ a: 1 });
