// what: deletes every deletable global and then makes a call with what it kept
// expect: finished {"a":1}
// calls: bench.echo
const { echo } = tools.bench;
const world = globalThis;
for (const name of Object.getOwnPropertyNames(world)) delete world[name];
return await echo({ a: 1 });
