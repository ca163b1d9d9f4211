// what: passes an object of two hundred thousand keys
// expect: failed too_large
// calls: bench.echo
const wide = {};
for (let i = 0; i < 200000; i++) wide["key number " + i] = i;
const answer = await tools.bench.echo(wide);
return Object.keys(answer).length;
