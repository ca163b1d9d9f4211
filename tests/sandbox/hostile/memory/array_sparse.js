// what: sets far apart indexes, so that an array must become a dictionary of elements
// expect: exceeded heap_bytes | exceeded engine_seconds
const list = [];
for (let i = 0; ; i++) list[(i * 1000003) % (2 ** 32 - 2)] = i;
