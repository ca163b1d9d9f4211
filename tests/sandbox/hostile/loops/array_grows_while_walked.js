// what: pops and pushes while an array iterator follows the length
// expect: exceeded heap_bytes
const list = [0];
for (const item of list) list.push(item);
