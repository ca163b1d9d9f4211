// what: doubles an array by concatenating it with itself
// expect: exceeded heap_bytes
let list = [1, 2, 3, 4];
for (;;) list = list.concat(list);
