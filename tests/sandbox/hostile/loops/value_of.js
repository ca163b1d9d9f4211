// what: spins in valueOf called by an addition
// expect: exceeded engine_seconds
return 1 + {
  valueOf() {
    for (;;);
  },
};
