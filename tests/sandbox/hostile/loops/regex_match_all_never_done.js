// what: walks matchAll of a subclass whose exec always finds the same match
// expect: exceeded engine_seconds
class Stuck extends RegExp {
  exec() {
    return { 0: "x", index: 0 };
  }
}
for (const match of "x".matchAll(new Stuck("x", "g")));
