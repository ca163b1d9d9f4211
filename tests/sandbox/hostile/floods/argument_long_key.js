// what: passes an object with a key of five mebibytes
// expect: failed too_large
// calls: bench.echo
await tools.bench.echo({ ["k".repeat(5 << 20)]: 1 });
