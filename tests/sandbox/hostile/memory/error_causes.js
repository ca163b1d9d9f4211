// what: builds an endless chain of errors with causes
// expect: exceeded heap_bytes
let error = new Error("first");
for (;;) error = new Error("next", { cause: error });
