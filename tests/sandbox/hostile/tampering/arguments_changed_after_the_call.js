// what: changes an argument after the call was made and before the host has seen it
// expect: finished {"path":"allowed"}
// calls: bench.echo
const request = { path: "allowed" };
const promise = tools.bench.echo(request);
request.path = "forbidden";
return await promise;
