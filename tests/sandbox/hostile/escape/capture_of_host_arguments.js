// what: makes the host call a script function and looks at what it was handed
// expect: finished []
// calls: bench.echo
const leaked = [];
const look = function (...given) {
  for (const value of [this, ...given]) {
    if (typeof value === "function") leaked.push("a function");
    else if (typeof value === "object" && value !== null && value !== probe && Object.keys(value).some(key => /resolve|reject|box/.test(key))) leaked.push("a record");
  }
  return "text";
};
const probe = { toJSON: look, toString: look, valueOf: look, [Symbol.toPrimitive]: look };
await tools.bench.echo(probe);
show(probe, { as: probe });
console.log(probe, "%s", probe);
store("probe", probe);
return leaked;
