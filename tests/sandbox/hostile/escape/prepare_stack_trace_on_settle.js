// what: uses a then getter to run inside the host's settling code and steal its functions from call sites
// expect: finished []
// calls: bench.echo
const leaked = [];
const mine = [];
Error.prepareStackTrace = (error, sites) => {
  for (const site of Array.isArray(sites) ? sites : []) {
    const found = site.getFunction?.();
    if (typeof found === "function" && !mine.includes(found) && !/native code/.test(String(found))) leaked.push(found.name || "anonymous");
  }
  return "prepared";
};
function spy() {
  new Error("probe").stack;
  return undefined;
}
mine.push(spy);
Object.defineProperty(Object.prototype, "then", { configurable: true, get: spy });
await tools.bench.echo({ a: 1 });
delete Object.prototype.then;
return leaked;
