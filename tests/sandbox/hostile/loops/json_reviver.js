// what: spins in a JSON.parse reviver
// expect: exceeded engine_seconds
JSON.parse("[1]", () => {
  for (;;);
});
