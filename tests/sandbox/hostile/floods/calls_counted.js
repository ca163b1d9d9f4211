// what: counts how many calls are let through, and whether the refusal can be caught
// expect: finished [256,"too_many_calls"]
// calls: bench.echo
let made = 0;
try {
  for (;;) {
    tools.bench.echo(made);
    made++;
  }
} catch (error) {
  return [made, error.name];
}
