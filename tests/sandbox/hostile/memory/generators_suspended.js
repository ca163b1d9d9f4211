// what: keeps generators suspended in the middle of their work
// expect: exceeded heap_bytes
function* work() {
  const local = [1, 2, 3, 4];
  yield local;
  yield local;
}
const kept = [];
for (;;) {
  const one = work();
  one.next();
  kept.push(one);
}
