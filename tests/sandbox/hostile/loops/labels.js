// what: spins by jumping between labelled loops that never reach their end
// expect: exceeded engine_seconds
outer: for (;;) {
  inner: for (;;) {
    continue outer;
  }
}
