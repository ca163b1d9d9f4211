// what: asks Array.from to fill the largest array there is
// expect: exceeded heap_bytes
return Array.from({ length: 2 ** 32 - 1 }, () => 0).length;
