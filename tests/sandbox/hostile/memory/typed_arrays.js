// what: keeps typed arrays of every element size
// expect: exceeded heap_bytes
const kept = [];
for (;;) {
  kept.push(new Uint8Array(1 << 18), new Int16Array(1 << 17), new Float32Array(1 << 16), new BigInt64Array(1 << 15));
}
