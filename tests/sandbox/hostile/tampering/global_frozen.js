// what: freezes the global object and every intrinsic it can reach
// expect: finished {"a":1}
// calls: bench.echo
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const value = globalThis[name];
  if (typeof value !== "function") continue;
  Object.freeze(value);
  if (value.prototype) Object.freeze(value.prototype);
}
Object.freeze(globalThis);
const answer = await tools.bench.echo({ a: 1 });
show(answer);
console.log(answer);
store("key", answer);
return answer;
