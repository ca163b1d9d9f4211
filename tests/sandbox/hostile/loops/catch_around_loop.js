// what: tries to catch the interrupt of an inner loop and to go on spinning
// expect: exceeded engine_seconds
for (;;) {
  try {
    for (;;);
  } catch {
    continue;
  }
}
