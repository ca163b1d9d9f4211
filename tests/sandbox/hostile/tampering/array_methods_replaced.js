// what: replaces every method of Array.prototype with one that throws
// expect: finished {"a":[1,2]}
// calls: bench.echo
for (const name of Object.getOwnPropertyNames(Array.prototype)) {
  if (typeof Array.prototype[name] !== "function" || name === "constructor") continue;
  Array.prototype[name] = () => {
    throw new Error(`${name} is gone`);
  };
}
const answer = await tools.bench.echo({ a: [1, 2] });
show(answer);
console.log("text", answer);
store("key", answer);
return load("key");
