// what: awaits in loops, in conditions and in parallel
// expect: finished [6,[2,4,6]]
// calls: bench.echo
let sum = 0;
for (const n of [1, 2, 3]) sum += await tools.bench.echo(n);
for await (const n of [tools.bench.echo(0)]) sum += n;
const doubled = await Promise.all([1, 2, 3].map(async n => (await tools.bench.echo(n)) * 2));
return [sum, doubled];
