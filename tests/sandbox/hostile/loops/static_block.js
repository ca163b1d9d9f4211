// what: spins in a static block while a class is being defined
// expect: exceeded engine_seconds
class Stuck {
  static {
    for (;;);
  }
}
