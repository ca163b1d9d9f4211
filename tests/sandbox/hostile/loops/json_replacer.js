// what: spins in a JSON.stringify replacer
// expect: exceeded engine_seconds
JSON.stringify([1], () => {
  for (;;);
});
