// what: builds an endless prototype chain
// expect: exceeded heap_bytes
let object = {};
for (;;) object = Object.create(object, { depth: { value: 1 } });
