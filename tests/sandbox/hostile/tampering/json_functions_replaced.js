// what: replaces JSON.stringify and JSON.parse with forgeries
// expect: finished {"a":1}
// calls: bench.echo
JSON.stringify = () => '{"forged":true}';
JSON.parse = () => ({ forged: true });
return await tools.bench.echo({ a: 1 });
