// what: poisons property descriptors and then lets the host build the error of a failed call
// expect: finished ["not_found","no such thing"]
// calls: bench.fail
Object.prototype.get = () => "poisoned";
Object.prototype.set = () => {};
try {
  await tools.bench.fail(1);
} catch (error) {
  return [error.name, error.message];
}
