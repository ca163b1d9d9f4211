// what: multiplies an array by a hundred with each flatMap
// expect: exceeded heap_bytes
let list = [0];
for (;;) list = list.flatMap(() => new Array(100).fill(0));
