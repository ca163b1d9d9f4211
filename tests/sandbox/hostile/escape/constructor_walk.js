// what: walks every object it can reach and calls everything that could compile text
// expect: finished []
// calls: bench.echo
const seen = new Set();
const compiled = [];
const queue = [globalThis, async () => {}, function* () {}, async function* () {}, class {}, tools.bench.echo(1), [].values(), new Map().keys()];
const wanted = /Function$|^eval$/;
while (queue.length) {
  const object = queue.pop();
  if (object === null || (typeof object !== "object" && typeof object !== "function") || seen.has(object)) continue;
  seen.add(object);
  const name = Object.getOwnPropertyDescriptor(object, "name")?.value;
  if (typeof object === "function" && wanted.test(name)) {
    for (const attempt of [() => object("return 1"), () => new object("return 1")]) {
      try {
        compiled.push([name, typeof attempt()]);
      } catch {}
    }
  }
  queue.push(Object.getPrototypeOf(object));
  for (const key of Reflect.ownKeys(object)) {
    const { value, get, set } = Object.getOwnPropertyDescriptor(object, key);
    queue.push(value, get, set);
  }
}
return compiled;
