// what: puts toJSON on Array.prototype to replace an envelope that is written as a list
// expect: finished "real"
// calls: bench.echo
Array.prototype.toJSON = () => "forged";
const answer = await tools.bench.echo("real");
delete Array.prototype.toJSON;
return answer;
