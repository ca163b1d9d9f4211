// what: spins in Symbol.toPrimitive called for a property key
// expect: exceeded engine_seconds
const key = {
  [Symbol.toPrimitive]() {
    for (;;);
  },
};
return {}[key];
