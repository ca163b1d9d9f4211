// what: looks for the host's files in the stack of an error that the host made
// expect: finished false
// calls: bench.fail
try {
  await tools.bench.fail(1);
} catch (error) {
  return /\/(usr|home|tmp|root|opt|var|lib|etc)\/|\.py\b|site-packages|prelude/.test(String(error.stack));
}
