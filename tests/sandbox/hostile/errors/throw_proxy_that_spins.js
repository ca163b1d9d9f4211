// what: throws a proxy whose get trap spins while the host reads the error
// expect: exceeded engine_seconds
throw new Proxy(
  {},
  {
    get() {
      for (;;);
    },
  },
);
