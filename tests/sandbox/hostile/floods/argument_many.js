// what: passes sixty thousand arguments to one call
// expect: finished 0
// calls: bench.echo
return await tools.bench.echo(...new Array(60000).fill(0));
