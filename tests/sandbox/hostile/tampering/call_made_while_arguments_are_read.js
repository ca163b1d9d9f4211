// what: makes a call from the toJSON of another call's argument, in the middle of its recording
// expect: finished ["outer","inner"]
// calls: bench.echo
let inner;
const outer = tools.bench.echo({
  toJSON() {
    inner = tools.bench.echo("inner");
    return "outer";
  },
});
return [await outer, await inner];
