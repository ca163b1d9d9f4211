// what: drains an async generator that never returns
// expect: exceeded engine_seconds | exceeded jobs
async function* ones() {
  for (;;) yield 1;
}
for await (const one of ones());
