// what: passes an empty array that claims four thousand million elements
// expect: exceeded engine_seconds
// calls: bench.echo
await tools.bench.echo(new Array(2 ** 32 - 1));
