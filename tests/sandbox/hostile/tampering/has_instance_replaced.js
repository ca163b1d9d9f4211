// what: makes every built-in class claim every value as its instance
// expect: finished {"a":1} | failed TypeError
// calls: bench.echo
for (const type of [Promise, Map, Set, Error, RegExp, ArrayBuffer, Iterator, Date]) {
  Object.defineProperty(type, Symbol.hasInstance, { value: () => true });
}
return await tools.bench.echo(Object.assign(new (class Point {})(), { a: 1 }));
