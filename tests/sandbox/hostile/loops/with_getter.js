// what: spins in a getter that a with statement consults for a plain name
// expect: exceeded engine_seconds
with ({ get name() { for (;;); } }) {
  name;
}
