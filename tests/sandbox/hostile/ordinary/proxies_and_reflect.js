// what: uses a proxy for default values, as libraries do
// expect: finished [0,1,["hits"]]
const counts = new Proxy({}, { get: (target, key) => (Reflect.has(target, key) ? Reflect.get(target, key) : 0) });
const before = counts.hits;
counts.hits += 1;
return [before, counts.hits, Reflect.ownKeys(counts)];
