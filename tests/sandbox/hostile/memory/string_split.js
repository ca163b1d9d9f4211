// what: splits strings into millions of one-character pieces and keeps them
// expect: exceeded heap_bytes
const kept = [];
const text = "abcdefgh".repeat(1 << 16);
for (;;) kept.push(text.split(""));
