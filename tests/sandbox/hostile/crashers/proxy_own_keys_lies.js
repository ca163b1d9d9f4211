// what: breaks the invariants of ownKeys and getOwnPropertyDescriptor
// expect: finished ["TypeError","TypeError","TypeError"]
const names = [];
const fixed = Object.freeze({ a: 1 });
for (const handler of [{ ownKeys: () => ["b"] }, { ownKeys: () => ["a", "a"] }, { ownKeys: () => ({ length: 1, 0: 7 }) }]) {
  try {
    Object.keys(new Proxy(fixed, handler));
  } catch (error) {
    names.push(error.name);
  }
}
return names;
