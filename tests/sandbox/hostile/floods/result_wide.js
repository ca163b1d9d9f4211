// what: returns an array of three million numbers
// expect: exceeded heap_bytes
return new Array(3e6).fill(7);
