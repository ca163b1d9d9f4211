// what: pushes numbers to one array for ever
// expect: exceeded heap_bytes
const list = [];
for (;;) list.push(1.5);
