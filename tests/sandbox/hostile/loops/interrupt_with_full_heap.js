// what: fills the heap first, so that not even the interrupt can be made into an error, and catches whatever comes
// expect: exceeded engine_seconds
globalThis.kept = null;
for (let size = 1 << 16; size >= 1; size >>= 1) {
  try {
    for (;;) kept = { kept, more: new Uint8Array(size) };
  } catch {}
}
for (;;) {
  try {
    for (;;);
  } catch {}
}
