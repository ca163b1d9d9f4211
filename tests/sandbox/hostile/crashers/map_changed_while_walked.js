// what: deletes, clears and refills maps and sets while several iterators stand in them
// expect: finished "survived"
const map = new Map(Array.from({ length: 1000 }, (_, i) => [i, { i }]));
const iterators = [map.keys(), map.values(), map.entries(), map[Symbol.iterator]()];
for (const it of iterators) it.next();
map.forEach((value, key) => {
  map.delete(key);
  if (key === 10) map.clear();
  if (key < 20) map.set(key + 5000, value);
});
for (const it of iterators) for (let i = 0; i < 100; i++) it.next();
const set = new Set([1, 2, 3]);
for (const item of set) {
  set.delete(item);
  if (set.size < 3 && item < 1000) set.add(item + 3);
}
return "survived";
