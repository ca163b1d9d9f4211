// what: keeps small resizable buffers that each reserve a megabyte
// expect: exceeded heap_bytes
const kept = [];
for (;;) kept.push(new ArrayBuffer(1, { maxByteLength: 1 << 20 }));
