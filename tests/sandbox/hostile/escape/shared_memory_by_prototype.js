// what: walks everything it can reach and looks for the removed constructors
// expect: finished []
const removed = new Set(["SharedArrayBuffer", "Atomics", "WebAssembly", "WeakRef", "FinalizationRegistry", "Worker"]);
const seen = new Set();
const found = [];
const queue = [globalThis, new ArrayBuffer(1), new Uint8Array(1), new WeakMap()];
while (queue.length) {
  const object = queue.pop();
  if (object === null || (typeof object !== "object" && typeof object !== "function") || seen.has(object)) continue;
  seen.add(object);
  for (const key of ["name", Symbol.toStringTag]) {
    const label = Object.getOwnPropertyDescriptor(object, key)?.value;
    if (removed.has(label)) found.push(label);
  }
  queue.push(Object.getPrototypeOf(object));
  for (const key of Reflect.ownKeys(object)) {
    const { value, get, set } = Object.getOwnPropertyDescriptor(object, key);
    queue.push(value, get, set);
  }
}
return found;
