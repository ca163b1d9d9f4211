// what: makes every allowed call at once and waits for all of them, which is legitimate
// expect: finished 32640
// calls: bench.echo
const answers = await Promise.all(Array.from({ length: 256 }, (_, i) => tools.bench.echo(i)));
return answers.reduce((a, b) => a + b);
