// what: spins in the argument coercion of a Date method
// expect: exceeded engine_seconds
new Date(0).setHours({
  valueOf() {
    for (;;);
  },
});
