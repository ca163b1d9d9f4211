// what: yields thenables whose then getter advances the same async generator
// expect: finished "survived" | failed Deadlock
let depth = 0;
const it = (async function* () {
  for (let i = 0; i < 50; i++) {
    yield {
      get then() {
        if (depth++ < 50) it.next();
        return undefined;
      },
    };
  }
})();
for (let i = 0; i < 100; i++) await it.next();
return "survived";
