// what: runs out of memory, catches it, frees everything and goes on, which is allowed
// expect: finished "recovered"
// calls: bench.echo
let kept = [];
try {
  for (;;) kept.push(new ArrayBuffer(1 << 20));
} catch {
  kept = null;
}
return await tools.bench.echo("recovered");
