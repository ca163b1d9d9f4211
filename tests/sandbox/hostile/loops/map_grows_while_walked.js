// what: walks a map that gets a new entry for each one visited and loses the old one
// expect: exceeded engine_seconds
const map = new Map([[0, 0]]);
for (const [key] of map) {
  map.delete(key);
  map.set(key + 1, 0);
}
