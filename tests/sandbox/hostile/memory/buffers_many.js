// what: keeps megabyte array buffers
// expect: exceeded heap_bytes
const kept = [];
for (;;) kept.push(new ArrayBuffer(1 << 20));
