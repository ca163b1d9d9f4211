// what: keeps long integers
// expect: exceeded heap_bytes
const kept = [];
for (let n = 1n << 500000n; ; n += 1n) kept.push(n);
