// what: puts a toJSON on Array.prototype whose answer is an array again
// expect: failed too_deep
// calls: bench.echo
Array.prototype.toJSON = () => ["forged", []];
return await tools.bench.echo([1]);
