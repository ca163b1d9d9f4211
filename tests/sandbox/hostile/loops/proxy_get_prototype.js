// what: spins in the getPrototypeOf trap behind an innocent instanceof
// expect: exceeded engine_seconds
const trap = new Proxy(
  {},
  {
    getPrototypeOf() {
      for (;;);
    },
  },
);
return trap instanceof Array;
