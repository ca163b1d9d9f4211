// what: spins in the has trap that a with statement consults for a plain name
// expect: exceeded engine_seconds
with (new Proxy({}, { has() { for (;;); } })) {
  anything;
}
