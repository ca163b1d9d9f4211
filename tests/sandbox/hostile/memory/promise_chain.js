// what: builds a then chain that never ends
// expect: exceeded heap_bytes
let promise = Promise.resolve(0);
for (;;) promise = promise.then(n => n + 1);
