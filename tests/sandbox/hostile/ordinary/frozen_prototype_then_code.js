// what: freezes Array.prototype and Object.prototype and then goes on with ordinary code
// expect: finished {"sum":6,"sorted":[1,2,3],"label":"ok"}
// calls: bench.echo
Object.freeze(Array.prototype);
Object.freeze(Object.prototype);
const list = await tools.bench.echo([3, 1, 2]);
const out = { sum: list.reduce((a, b) => a + b), sorted: [...list].sort() };
out.label = "ok";
show(out);
return out;
