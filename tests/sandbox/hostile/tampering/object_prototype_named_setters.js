// what: puts setters for likely names of envelope fields on Object.prototype to catch what host code assigns
// expect: finished [{"a":1},[]]
// calls: bench.echo
const names = ["id", "call_id", "tool", "args", "site", "value", "ok", "error", "kind", "type", "events", "name", "message"];
names.push("resolve", "reject", "promise", "text", "level", "options", "line", "column", "stack", "limit", "pending", "code");
const seen = [];
for (const name of names) {
  Object.defineProperty(Object.prototype, name, {
    __proto__: null,
    configurable: true,
    get: () => undefined,
    set() {
      seen.push(name);
    },
  });
}
const answer = await tools.bench.echo({ a: 1 });
show(answer, { as: "json" });
console.warn("text");
store("key", 1);
load("key");
for (const name of names) delete Object.prototype[name];
return [answer, seen];
