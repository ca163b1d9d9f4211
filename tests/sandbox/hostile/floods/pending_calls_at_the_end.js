// what: ends while two hundred calls are pending
// expect: finished "ended"
// calls: bench.echo
for (let i = 0; i < 200; i++) tools.bench.echo(i);
return "ended";
