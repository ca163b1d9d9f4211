// what: passes a value nested a hundred thousand deep
// expect: failed too_deep
// calls: bench.echo
let nested = 1;
for (let i = 0; i < 100000; i++) nested = [nested];
await tools.bench.echo(nested);
