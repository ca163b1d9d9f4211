// what: replaces the next method that all array iterators share
// expect: finished {"a":[1,2]}
// calls: bench.echo
Object.getPrototypeOf([].values()).next = () => ({ done: true, value: undefined });
return await tools.bench.echo({ a: [1, 2] });
