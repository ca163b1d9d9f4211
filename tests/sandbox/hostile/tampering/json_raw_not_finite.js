// what: sends a number through rawJSON that no float can hold
// expect: finished | failed TypeError
// calls: bench.echo
const raw = typeof JSON.rawJSON === "function" ? JSON.rawJSON("1e999") : 1;
await tools.bench.echo(raw);
await tools.bench.echo([raw]);
return "sent";
