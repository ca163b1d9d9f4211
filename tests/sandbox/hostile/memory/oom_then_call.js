// what: fills the heap to the last byte and then makes a tool call, which must allocate
// expect: exceeded heap_bytes
// calls: bench.echo
globalThis.kept = [];
for (let size = 1 << 20; size >= 1; size >>= 1) {
  try {
    for (;;) kept.push("x".repeat(size) + kept.length);
  } catch {}
}
return await tools.bench.echo("answered");
