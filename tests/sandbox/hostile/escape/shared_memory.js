// what: looks for shared memory, threads, WebAssembly and weak references
// expect: finished ["undefined","undefined","undefined","undefined","undefined"]
return [typeof SharedArrayBuffer, typeof Atomics, typeof WebAssembly, typeof WeakRef, typeof FinalizationRegistry];
