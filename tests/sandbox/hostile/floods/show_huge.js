// what: shows one text of thirty million characters
// expect: exceeded heap_bytes
show("x".repeat(3e7));
