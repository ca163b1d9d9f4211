// what: keeps the results of a tagged template evaluated for ever
// expect: exceeded heap_bytes
const tag = (strings, ...values) => [strings.raw.slice(), values];
const kept = [];
for (let i = 0; ; i++) kept.push(tag`first ${i} second ${i} third ${i} fourth`);
