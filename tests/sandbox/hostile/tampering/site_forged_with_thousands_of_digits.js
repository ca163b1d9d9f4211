// what: gives a function a name that reads like a line number of five thousand digits
// expect: finished 1
// calls: bench.echo
const caller = () => tools.bench.echo(1);
Object.defineProperty(caller, "name", { value: `at (<input>:${"9".repeat(5000)}:${"9".repeat(5000)})` });
return await caller();
