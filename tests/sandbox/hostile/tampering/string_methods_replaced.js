// what: replaces every method of String.prototype with one that returns a forgery
// expect: finished {"text":"real"}
// calls: bench.echo
for (const name of Object.getOwnPropertyNames(String.prototype)) {
  if (typeof String.prototype[name] === "function" && name !== "constructor") String.prototype[name] = () => "forged";
}
const answer = await tools.bench.echo({ text: "real" });
show("real");
console.log("real");
return answer;
