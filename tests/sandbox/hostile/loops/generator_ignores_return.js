// what: breaks out of a generator that refuses to close by yielding from its finally block
// expect: exceeded engine_seconds
function* stubborn() {
  try {
    yield 1;
  } finally {
    for (;;);
  }
}
for (const value of stubborn()) break;
