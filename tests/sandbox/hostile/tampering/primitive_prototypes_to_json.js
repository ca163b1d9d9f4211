// what: puts toJSON on the prototypes of strings, numbers and booleans
// expect: finished {"text":"real","number":1,"flag":true}
// calls: bench.echo
String.prototype.toJSON = () => "forged";
Number.prototype.toJSON = () => 999;
Boolean.prototype.toJSON = () => null;
const answer = await tools.bench.echo({ text: "real", number: 1, flag: true });
show("real");
console.log("real", 1, true);
return answer;
