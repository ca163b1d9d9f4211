// what: keeps small objects for ever
// expect: exceeded heap_bytes
const list = [];
for (let i = 0; ; i++) list.push({ i, next: list[i - 1] });
