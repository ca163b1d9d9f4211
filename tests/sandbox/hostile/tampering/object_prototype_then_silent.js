// what: makes every object a thenable that never settles, so that the script waits for ever
// expect: failed Deadlock
// calls: bench.echo
Object.prototype.then = () => {};
return await tools.bench.echo({ real: true });
