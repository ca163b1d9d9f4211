// what: binds a function to itself for ever, with arguments
// expect: exceeded heap_bytes
let bound = () => 0;
for (;;) bound = bound.bind(null, 1, 2, 3, 4, 5, 6, 7, 8);
