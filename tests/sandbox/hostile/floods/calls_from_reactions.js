// what: makes each call from the reaction to another one, twice each
// expect: failed too_many_calls
// calls: bench.echo
const spread = async n => {
  await tools.bench.echo(n);
  await Promise.all([spread(n + 1), spread(n + 1)]);
};
await spread(0);
