// what: keeps megabyte strings that all differ
// expect: exceeded heap_bytes
const kept = [];
for (let i = 0; ; i++) kept.push("x".repeat(1 << 20) + i);
