// what: turns every global into an accessor that throws
// expect: finished {"a":1}
// calls: bench.echo
const { echo } = tools.bench;
const { defineProperty, getOwnPropertyNames } = Object;
for (const name of getOwnPropertyNames(globalThis)) {
  try {
    defineProperty(globalThis, name, {
      get() {
        throw 1;
      },
    });
  } catch {}
}
return await echo({ a: 1 });
