// what: makes cycles through weak maps that only the collector can see
// expect: finished "survived"
for (let i = 0; i < 20000; i++) {
  const map = new WeakMap();
  const key = { map };
  map.set(key, { key, map });
}
return "survived";
