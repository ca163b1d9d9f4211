// what: makes calls without end, one after the other
// expect: failed too_many_calls
// calls: bench.echo
for (let i = 0; ; i++) await tools.bench.echo(i);
