// what: fills the heap to the last byte and then throws an error of its own
// expect: failed Error | exceeded heap_bytes
globalThis.kept = null;
for (let size = 1 << 20; size >= 1; size >>= 1) {
  try {
    for (;;) kept = { kept, more: new Uint8Array(size) };
  } catch {}
}
throw new Error("no room to describe this");
