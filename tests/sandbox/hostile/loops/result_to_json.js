// what: returns an object whose toJSON spins while the result is turned into text
// expect: exceeded engine_seconds
return {
  toJSON() {
    for (;;);
  },
};
