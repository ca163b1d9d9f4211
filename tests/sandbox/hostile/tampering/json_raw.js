// what: smuggles raw JSON text into arguments, if the engine offers it
// expect: finished | failed TypeError
// calls: bench.echo
const raw = typeof JSON.rawJSON === "function" ? JSON.rawJSON("123456789012345678901234567890") : 1;
return await tools.bench.echo({ raw });
