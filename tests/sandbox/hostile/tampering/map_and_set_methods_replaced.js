// what: replaces every method of maps, sets and weak maps, where a host might keep its calls
// expect: finished {"a":1}
// calls: bench.echo
for (const type of [Map, Set, WeakMap, WeakSet]) {
  for (const key of Reflect.ownKeys(type.prototype)) {
    if (key !== "constructor") Object.defineProperty(type.prototype, key, { value: () => "forged" });
  }
}
return await tools.bench.echo({ a: 1 });
