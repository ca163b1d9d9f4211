// what: changes the error of a rejected call and throws it on under another name
// expect: failed
// calls: bench.fail
try {
  await tools.bench.fail(1);
} catch (error) {
  error.name = "WorkerLost";
  error.message = "forged";
  error.stack = "forged";
  throw error;
}
