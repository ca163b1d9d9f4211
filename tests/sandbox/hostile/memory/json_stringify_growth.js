// what: stringifies one long string that is referred to thousands of times
// expect: exceeded heap_bytes
const long = "x".repeat(1 << 20);
return JSON.stringify(new Array(1 << 12).fill(long)).length;
