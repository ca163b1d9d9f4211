// what: catches a failed call, wraps it as a cause and cleans up in finally
// expect: finished ["could not read","not_found","cleaned"]
// calls: bench.fail
let state = "dirty";
try {
  try {
    await tools.bench.fail("x");
  } catch (error) {
    throw new Error("could not read", { cause: error });
  } finally {
    state = "cleaned";
  }
} catch (error) {
  return [error.message, error.cause.name, state];
}
