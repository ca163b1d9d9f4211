// what: replaces String, Symbol, BigInt, Array and Object as globals
// expect: finished {"a":[1]}
// calls: bench.echo
const { echo } = tools.bench;
globalThis.String = globalThis.Symbol = globalThis.BigInt = globalThis.Array = () => "forged";
globalThis.Object = undefined;
return await echo({ a: [1] });
