// what: hands Promise.race an endless iterable of promises
// expect: exceeded heap_bytes | exceeded engine_seconds
const settled = Promise.resolve(1);
function* same() {
  for (;;) yield settled;
}
return await Promise.race(same());
