// what: poisons property descriptors and then makes more calls than are allowed
// expect: finished "too_many_calls"
// calls: bench.echo
Object.prototype.get = () => "poisoned";
try {
  for (;;) tools.bench.echo(1);
} catch (error) {
  return error.name;
}
