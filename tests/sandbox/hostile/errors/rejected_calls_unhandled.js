// what: leaves two hundred rejected calls without anyone to handle them
// expect: finished "ignored"
// calls: bench.fail, bench.echo
for (let i = 0; i < 200; i++) tools.bench.fail(i);
await tools.bench.echo(1);
return "ignored";
