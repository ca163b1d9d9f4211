// what: parses a short text into a structure many times its size, and keeps the copies
// expect: exceeded heap_bytes
const text = "[" + "{},".repeat(10000) + "0]";
const kept = [];
for (;;) kept.push(JSON.parse(text));
