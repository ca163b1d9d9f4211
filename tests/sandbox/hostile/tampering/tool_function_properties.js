// what: looks for internals hanging off the function of a tool
// expect: finished []
// calls: bench.echo
const ordinary = ["length", "name", "prototype", "arguments", "caller"];
return Reflect.ownKeys(tools.bench.echo).filter(key => !ordinary.includes(key));
