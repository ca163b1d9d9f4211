// what: keeps strings of two-byte characters, which need twice the room
// expect: exceeded heap_bytes
const kept = [];
for (let i = 0; ; i++) kept.push("\u4e00".repeat(1 << 19) + i);
