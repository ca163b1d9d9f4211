// what: passes an array of three million numbers
// expect: exceeded heap_bytes
// calls: bench.echo
await tools.bench.echo(new Array(3e6).fill(0));
