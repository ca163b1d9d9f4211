// what: replaces call, apply and bind of Function.prototype
// expect: finished {"a":1}
// calls: bench.echo
Function.prototype.call = () => "forged";
Function.prototype.apply = () => "forged";
Function.prototype.bind = () => () => "forged";
Function.prototype.toString = () => "forged";
const answer = await tools.bench.echo({ a: 1 });
show(answer);
console.log(answer);
return answer;
