// what: keeps closures that each hold a small array
// expect: exceeded heap_bytes
const kept = [];
for (let i = 0; ; i++) {
  const held = new Array(64).fill(i);
  kept.push(() => held);
}
