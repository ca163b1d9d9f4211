// what: passes one text of five mebibytes
// expect: failed too_large
// calls: bench.echo
await tools.bench.echo("x".repeat(5 << 20));
