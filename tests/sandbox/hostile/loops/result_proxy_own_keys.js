// what: returns a proxy whose ownKeys trap spins while the result is read
// expect: exceeded engine_seconds
return new Proxy(
  {},
  {
    ownKeys() {
      for (;;);
    },
  },
);
