// what: sends megabytes with each call without waiting, to overflow what is buffered for the host
// expect: failed too_large
// calls: bench.echo
const large = "x".repeat(1 << 20);
for (let i = 0; i < 200; i++) tools.bench.echo(large);
return "sent";
