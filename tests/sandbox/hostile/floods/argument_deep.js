// what: passes a value nested a hundred deep
// expect: failed too_deep
// calls: bench.echo
let nested = 1;
for (let i = 0; i < 100; i++) nested = [nested];
await tools.bench.echo(nested);
