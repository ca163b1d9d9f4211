// what: returns an object with a getter that spins while the host reads the result
// expect: exceeded engine_seconds
return {
  get value() {
    for (;;);
  },
};
