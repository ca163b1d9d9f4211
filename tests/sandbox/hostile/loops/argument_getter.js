// what: passes a tool an argument whose getter spins while the call is recorded
// expect: exceeded engine_seconds
// calls: bench.echo
await tools.bench.echo({
  get value() {
    for (;;);
  },
});
