// what: replaces every static function of Object
// expect: finished {"a":1}
// calls: bench.echo
for (const name of Object.getOwnPropertyNames(Object)) {
  if (typeof Object[name] === "function") Object[name] = () => "forged";
}
const answer = await tools.bench.echo({ a: 1 });
show(answer);
console.log(answer);
return answer;
