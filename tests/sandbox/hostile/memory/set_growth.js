// what: fills a set with strings
// expect: exceeded heap_bytes
const set = new Set();
for (let i = 0; ; i++) set.add("some longer prefix for each of the items " + i);
