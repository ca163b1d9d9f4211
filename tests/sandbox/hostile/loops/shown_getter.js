// what: shows an object whose getter spins while the value is copied out
// expect: exceeded engine_seconds
show({
  get value() {
    for (;;);
  },
});
