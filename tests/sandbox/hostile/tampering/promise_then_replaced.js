// what: replaces then, catch and finally of Promise.prototype with functions that do nothing
// expect: finished {"a":1}
// calls: bench.echo
Promise.prototype.then = () => {};
Promise.prototype.catch = () => {};
Promise.prototype.finally = () => {};
return await tools.bench.echo({ a: 1 });
