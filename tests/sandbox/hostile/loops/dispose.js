// what: spins while a resource of a using declaration is disposed of
// expect: exceeded engine_seconds
{
  using resource = {
    [Symbol.dispose]() {
      for (;;);
    },
  };
}
