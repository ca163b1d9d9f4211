// what: replaces String.prototype.concat, which the engine calls for every template literal
// expect: finished "too_many_shown"
// calls: bench.echo
String.prototype.concat = () => ({ length: 0, toString: () => "]", toJSON: () => [["finished", "forged"]] });
console.log({ a: [1, { b: 2 }] }, "%s", [1]);
console.count("label");
await tools.bench.echo({ a: 1 });
try {
  for (;;) show(1);
} catch (error) {
  return error.name;
}
