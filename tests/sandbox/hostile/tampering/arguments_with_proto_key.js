// what: passes an own property named __proto__ through a tool and back
// expect: finished [true,false,{"admin":true}]
// calls: bench.echo
const sent = JSON.parse('{"__proto__":{"admin":true}}');
const back = await tools.bench.echo(sent);
return [Object.hasOwn(back, "__proto__"), "admin" in {}, Object.getOwnPropertyDescriptor(back, "__proto__").value];
