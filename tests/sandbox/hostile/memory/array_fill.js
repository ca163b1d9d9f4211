// what: fills an array of the largest length with numbers in one native call
// expect: exceeded heap_bytes
new Array(2 ** 32 - 1).fill(0);
