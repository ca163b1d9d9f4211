// what: gives a function a name that reads like a position far outside the script
// expect: finished 1
// calls: bench.echo
const caller = () => tools.bench.echo(1);
Object.defineProperty(caller, "name", { value: "at (<input>:123456789:1)" });
return await caller();
