// what: replaces Promise[Symbol.species] with a constructor that never settles anything
// expect: finished [{"a":1},"object"]
// calls: bench.echo
class Silent {
  constructor(executor) {
    executor(
      () => {},
      () => {},
    );
  }
}
Object.defineProperty(Promise, Symbol.species, { get: () => Silent });
const derived = tools.bench.echo({ a: 1 }).then(value => value);
const answer = await tools.bench.echo({ a: 1 });
return [answer, typeof derived];
