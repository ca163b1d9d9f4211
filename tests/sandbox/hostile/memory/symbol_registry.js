// what: fills the global symbol registry, which is never emptied
// expect: exceeded heap_bytes | exceeded engine_seconds
for (let i = 0; ; i++) Symbol.for("x".repeat(4096) + i);
