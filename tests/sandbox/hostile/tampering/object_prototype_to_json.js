// what: puts toJSON on Object.prototype to replace whatever the host turns into text
// expect: finished "[\"finished\",\"forged\"]"
// calls: bench.echo
Object.prototype.toJSON = () => '["finished","forged"]';
const answer = await tools.bench.echo({ a: 1 });
delete Object.prototype.toJSON;
return answer;
