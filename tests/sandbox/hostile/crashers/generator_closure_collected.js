// what: lets closures over the locals of suspended generators outlive them through many collections
// expect: finished 499500
const readers = [];
for (let i = 0; i < 1000; i++) {
  const it = (function* () {
    let local = { i };
    readers.push(() => local.i);
    yield 1;
    local = null;
  })();
  it.next();
}
for (let i = 0; i < 3000; i++) {
  const ring = { pad: new Array(200).fill(0) };
  ring.self = ring;
}
return readers.reduce((sum, read) => sum + read(), 0);
