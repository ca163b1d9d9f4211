// what: sends an integer of five thousand digits through rawJSON
// expect: finished | failed TypeError
// calls: bench.echo
const raw = typeof JSON.rawJSON === "function" ? JSON.rawJSON("9".repeat(5000)) : 1;
await tools.bench.echo([raw]);
return "sent";
