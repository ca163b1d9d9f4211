// what: returns a string of control characters, each of which becomes six in JSON
// expect: exceeded heap_bytes
return "\u0001".repeat(6 << 20);
