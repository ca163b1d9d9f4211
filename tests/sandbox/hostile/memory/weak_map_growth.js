// what: fills a weak map and keeps every key alive
// expect: exceeded heap_bytes
const map = new WeakMap();
const keys = [];
for (let i = 0; ; i++) {
  const key = {};
  keys.push(key);
  map.set(key, { i });
}
