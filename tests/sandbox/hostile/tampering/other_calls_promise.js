// what: looks on a call's promise for a way to settle it or to reach another call
// expect: finished [1,2,[],[]]
// calls: bench.echo
const first = tools.bench.echo(1);
const second = tools.bench.echo(2);
const keys = Reflect.ownKeys(first);
first.value = "forged";
first.resolve?.("forged");
first.status = "fulfilled";
const second_keys = Reflect.ownKeys(second);
return [await first, await second, keys, second_keys];
