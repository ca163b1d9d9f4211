// what: passes a small structure that becomes 2^60 nodes as JSON
// expect: exceeded engine_seconds | failed too_large
// calls: bench.echo
let node = ["leaf"];
for (let i = 0; i < 60; i++) node = [node, node];
await tools.bench.echo(node);
