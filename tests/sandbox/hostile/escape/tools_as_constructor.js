// what: constructs host functions with new and with foreign new targets
// expect: finished
// calls: bench.echo
const outcomes = [];
for (const f of [tools.bench.echo, show, store, sleep]) {
  try {
    outcomes.push(typeof Reflect.construct(f, ["x"], Array));
  } catch (error) {
    outcomes.push(error.name);
  }
}
return outcomes;
