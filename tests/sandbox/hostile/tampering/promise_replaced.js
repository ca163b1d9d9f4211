// what: replaces the global Promise with a class of its own
// expect: finished {"a":1}
// calls: bench.echo
globalThis.Promise = class {
  constructor() {
    throw new Error("no promises here");
  }
};
return await tools.bench.echo({ a: 1 });
