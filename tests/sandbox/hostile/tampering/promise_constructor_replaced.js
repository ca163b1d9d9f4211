// what: replaces Promise.prototype.constructor, which await consults
// expect: finished {"a":1}
// calls: bench.echo
Promise.prototype.constructor = class Thief {
  constructor(executor) {
    executor(
      () => {},
      () => {},
    );
  }
};
return await tools.bench.echo({ a: 1 });
