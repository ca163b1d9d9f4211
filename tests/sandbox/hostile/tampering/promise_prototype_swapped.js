// what: changes the prototype of the promise that a call returned
// expect: finished "mine"
// calls: bench.echo
const promise = tools.bench.echo("real");
Object.setPrototypeOf(promise, { then: resolve => resolve("mine") });
return await promise;
