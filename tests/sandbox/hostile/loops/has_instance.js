// what: spins in Symbol.hasInstance called by instanceof
// expect: exceeded engine_seconds
return {} instanceof {
  [Symbol.hasInstance]() {
    for (;;);
  },
};
