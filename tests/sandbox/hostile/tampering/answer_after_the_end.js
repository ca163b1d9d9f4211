// what: ends while calls are pending and hopes to run on when they are answered
// expect: finished "ended"
// calls: bench.echo
for (let i = 0; i < 5; i++) tools.bench.echo(i).then(() => { for (;;); });
return "ended";
