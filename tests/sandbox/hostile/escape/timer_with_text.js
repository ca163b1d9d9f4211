// what: hands text to setTimeout and setInterval, which would evaluate it in a browser
// expect: finished ["TypeError","TypeError","TypeError","TypeError"]
const outcomes = [];
for (const name of ["setTimeout", "setInterval", "setImmediate", "queueMicrotask"]) {
  try {
    globalThis[name]("globalThis.escaped = true", 0);
    outcomes.push("called");
  } catch (error) {
    outcomes.push(error.name);
  }
}
await null;
if (globalThis.escaped) throw new Error("text was evaluated");
return outcomes;
