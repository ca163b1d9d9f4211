// what: puts setters for array indexes on Object.prototype to see what host code writes
// expect: finished [{"a":[1,2]},[]]
// calls: bench.echo
const seen = [];
let length = 0;
for (let i = 0; i < 64; i++) {
  Object.defineProperty(Object.prototype, i, {
    configurable: true,
    get: () => undefined,
    set(value) {
      Object.defineProperty(seen, length++, { value: typeof value, enumerable: true });
    },
  });
}
const answer = await tools.bench.echo({ a: [1, 2] });
show([answer]);
console.log("one", "two");
for (let i = 0; i < 64; i++) delete Object.prototype[i];
return [answer, seen];
