// what: drains a generator that never returns
// expect: exceeded engine_seconds
function* ones() {
  for (;;) yield 1;
}
for (const one of ones());
