// what: puts setters for array indexes on Array.prototype, which a host list would trigger by push
// expect: finished [{"a":[1,2]},0]
// calls: bench.echo
let seen = 0;
for (let i = 0; i < 64; i++) {
  Object.defineProperty(Array.prototype, i, {
    configurable: true,
    get: () => undefined,
    set(value) {
      if (typeof value !== "object") seen++;
    },
  });
}
const answer = await tools.bench.echo({ a: [1, 2] });
show(1);
console.log("one", "two");
store("key", 1);
for (let i = 0; i < 64; i++) delete Array.prototype[i];
return [answer, seen];
