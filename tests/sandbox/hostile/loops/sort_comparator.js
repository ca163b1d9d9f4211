// what: spins inside the comparator that the native sort calls
// expect: exceeded engine_seconds
[3, 1, 2].sort(() => {
  for (;;);
});
