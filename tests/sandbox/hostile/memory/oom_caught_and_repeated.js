// what: catches every failed allocation and tries again for ever with the heap full
// expect: exceeded engine_seconds | exceeded heap_bytes
const kept = [];
for (let size = 1 << 20; ; size = Math.max(16, size >> 1)) {
  try {
    for (;;) kept.push(new Uint8Array(size));
  } catch {}
}
