// what: passes a promise that somebody forgot to await
// expect: failed TypeError
// calls: bench.echo
await tools.bench.echo({ path: tools.bench.echo("a path") });
