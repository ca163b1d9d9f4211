// what: changes bindings and prototypes from getters and defaults in the middle of destructuring
// expect: finished "survived"
let a, b, c;
const source = {
  get a() {
    Object.setPrototypeOf(source, null);
    return undefined;
  },
};
for (let i = 0; i < 100; i++) {
  ({ a = ((b = source), i), b: { c = delete source.c } = {}, ...c } = source);
  [a, b, ...c] = (function* () {
    yield (a = 1);
    yield* [2, 3];
  })();
}
return "survived";
