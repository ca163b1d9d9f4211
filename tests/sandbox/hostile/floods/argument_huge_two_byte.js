// what: passes a text whose UTF-8 form is three times as long as its count of characters
// expect: failed too_large | exceeded engine_seconds
// calls: bench.echo
await tools.bench.echo("\u4e00".repeat(2 << 20));
