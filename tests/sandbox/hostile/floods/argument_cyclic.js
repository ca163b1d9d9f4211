// what: passes a value that contains itself
// expect: failed TypeError
// calls: bench.echo
const ring = { a: { b: [] } };
ring.a.b.push(ring);
await tools.bench.echo(ring);
