// what: stores and loads under keys that are objects, symbols and changing strings
// expect: finished "kept"
let turn = 0;
const key = { toString: () => (turn++ % 2 ? "missing" : "kept") };
store("kept", "kept");
for (const odd of [key, Symbol("s"), null, undefined, 1, [], {}]) {
  for (const act of [() => store(odd, 1), () => load(odd)]) {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }
}
return load("kept");
