// what: runs the set algebra with set-likes that change the receiver
// expect: finished "survived"
const set = new Set([1, 2, 3, 4]);
const like = {
  size: 3,
  has(value) {
    set.delete(value);
    set.add(value + 100);
    return set.size < 500;
  },
  keys() {
    set.clear();
    return [1, 2, 3][Symbol.iterator]();
  },
};
for (const name of ["union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf", "isDisjointFrom"]) {
  for (let i = 0; i < 4; i++) set.add(i);
  set[name](like);
}
return "survived";
