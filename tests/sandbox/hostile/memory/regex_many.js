// what: keeps compiled regular expressions that all differ
// expect: exceeded heap_bytes
const kept = [];
for (let i = 0; ; i++) kept.push(new RegExp("a".repeat(50000) + i));
