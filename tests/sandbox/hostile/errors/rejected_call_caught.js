// what: catches a rejected call and reads what the host said
// expect: finished ["not_found","no such thing","ask for another"]
// calls: bench.fail
try {
  await tools.bench.fail(1);
} catch (error) {
  return [error.name, error.message, error.hint];
}
