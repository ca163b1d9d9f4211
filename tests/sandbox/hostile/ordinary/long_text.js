// what: sends a text of three million characters, which is within every limit
// expect: finished 3000000
// calls: bench.echo
const text = "0123456789".repeat(300000);
return (await tools.bench.echo(text)).length;
