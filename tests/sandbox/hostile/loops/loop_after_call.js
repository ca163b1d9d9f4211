// what: spins after a tool has answered, when the clock was stopped and started again
// expect: exceeded engine_seconds
// calls: bench.echo
await tools.bench.echo(1);
for (;;);
