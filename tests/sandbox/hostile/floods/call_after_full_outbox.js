// what: makes a call that no longer fits the outbox, catches the refusal and goes on with smaller ones
// expect: finished ["too_large",7]
// calls: bench.echo
const large = "x".repeat(1_300_000);
const names = [];
try {
  for (let i = 0; i < 30; i++) tools.bench.echo(large);
} catch (error) {
  names.push(error.name);
}
await tools.bench.echo(1);
return [...names, await tools.bench.echo(7)];
