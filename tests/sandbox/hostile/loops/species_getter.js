// what: spins in the Symbol.species getter consulted by map
// expect: exceeded engine_seconds
class Odd extends Array {
  static get [Symbol.species]() {
    for (;;);
  }
}
return new Odd(1, 2, 3).map(x => x);
