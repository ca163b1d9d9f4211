// what: puts get, set and value on Object.prototype, which turns every plain property descriptor into an error
// expect: finished {"a":[1,2]}
// calls: bench.echo
Object.prototype.get = () => "poisoned";
Object.prototype.set = () => {};
Object.prototype.value = "poisoned";
Object.prototype.writable = false;
const answer = await tools.bench.echo({ a: [1, 2] });
show(answer);
console.log("text");
return answer;
