// what: passes a proxy of an array whose length changes between reads
// expect: finished ["0"]
// calls: bench.echo
let length = 0;
const list = new Proxy([], { get: (target, key) => (key === "length" ? ++length : key) });
return await tools.bench.echo(list);
