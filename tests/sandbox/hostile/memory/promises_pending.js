// what: keeps adding reactions to one pending promise
// expect: exceeded heap_bytes
const never = new Promise(() => {});
for (;;) never.then(() => 1, () => 2);
