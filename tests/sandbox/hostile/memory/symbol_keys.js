// what: gives one object endlessly many symbol properties
// expect: exceeded heap_bytes
const bag = {};
for (let i = 0; ; i++) bag[Symbol("a symbol with a description")] = i;
