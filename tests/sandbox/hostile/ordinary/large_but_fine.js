// what: builds and sends a large value that stays within every limit
// expect: finished 5000
// calls: bench.echo
const rows = Array.from({ length: 5000 }, (_, i) => ({ id: i, name: `row ${i}`, tags: ["a", "b"] }));
const back = await tools.bench.echo(rows);
return back.length;
