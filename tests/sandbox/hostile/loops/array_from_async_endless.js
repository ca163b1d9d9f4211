// what: feeds Array.fromAsync an endless source through a constructor that keeps nothing
// expect: exceeded engine_seconds | exceeded jobs
class Sink {
  set length(value) {}
}
const sink = new Proxy(Sink, {
  construct: () => new Proxy({}, { defineProperty: () => true, set: () => true }),
});
function* same() {
  for (;;) yield 0;
}
return await Array.fromAsync.call(sink, same());
