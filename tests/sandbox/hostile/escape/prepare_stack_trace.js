// what: installs Error.prepareStackTrace to get at call sites and the functions in them
// expect: finished []
// calls: bench.echo
const mine = new Set();
const leaked = [];
Error.prepareStackTrace = (error, sites) => {
  for (const site of Array.isArray(sites) ? sites : []) {
    const found = site.getFunction?.();
    if (typeof found === "function" && !mine.has(found) && !/native code/.test(String(found))) leaked.push(found.name || "anonymous");
    const self = site.getThis?.();
    if (self !== undefined && self !== null && typeof self === "object") leaked.push("this");
  }
  return "prepared";
};
const probe = {
  toJSON() {
    return new Error("probe").stack;
  },
};
mine.add(probe.toJSON);
await tools.bench.echo(probe);
show(probe);
store("probe", probe);
console.log(probe);
return leaked;
