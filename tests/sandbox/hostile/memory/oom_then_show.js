// what: fills the heap to the last byte and then shows and prints values
// expect: exceeded heap_bytes
globalThis.kept = null;
for (let size = 1 << 20; size >= 1; size >>= 1) {
  try {
    for (;;) kept = { kept, more: new Uint8Array(size) };
  } catch {}
}
console.log({ some: "text" });
show({ some: ["value"] });
