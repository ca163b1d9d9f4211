// what: keeps match results with hundreds of groups
// expect: exceeded heap_bytes
const pattern = new RegExp("(a)".repeat(250));
const text = "a".repeat(250);
const kept = [];
for (;;) kept.push(pattern.exec(text));
