// what: keeps wrapper objects of every kind
// expect: exceeded heap_bytes
const kept = [];
for (let i = 0; ; i++) kept.push(new Date(i), Object(i), Object("s"), Object(true), Object(Symbol.iterator), Object(1n));
