// what: makes the matcher keep one backtracking state for each of many characters
// expect: exceeded heap_bytes
return /^(?:(.)|\n)*?$(?!)/s.test("x".repeat(1 << 23));
