// what: joins an array of holes with a long separator
// expect: exceeded heap_bytes
return new Array(1 << 20).join("x".repeat(1 << 12)).length;
