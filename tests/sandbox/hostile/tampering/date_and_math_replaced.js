// what: replaces Date, Math and Number, which a host might use for ids and clocks
// expect: finished {"a":1.5}
// calls: bench.echo
Date.now = () => NaN;
Math.random = () => "forged";
Math.floor = Math.min = Math.max = () => NaN;
Number.isInteger = Number.isFinite = () => false;
globalThis.Number = globalThis.Date = globalThis.Math = undefined;
return await tools.bench.echo({ a: 1.5 });
