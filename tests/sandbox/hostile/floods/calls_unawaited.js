// what: makes calls without end and without waiting for any
// expect: failed too_many_calls
// calls: bench.echo
for (let i = 0; ; i++) tools.bench.echo(i);
