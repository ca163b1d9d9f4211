// what: climbs the stack with caller and arguments.callee from code that host functions call
// expect: finished []
// calls: bench.echo
const found = [];
function probe() {
  for (const climb of [() => probe.caller, () => probe.arguments, () => Function.prototype.caller]) {
    try {
      const value = climb();
      if (value !== null && value !== undefined) found.push(typeof value);
    } catch (error) {
      if (!(error instanceof TypeError)) found.push(error.name);
    }
  }
  return 1;
}
await tools.bench.echo({ toJSON: probe });
show({ toJSON: probe });
return found;
