// what: changes source and target from getters and setters during assign, spread and entries
// expect: finished "survived"
const source = {
  a: 1,
  get b() {
    delete source.c;
    source.d = 4;
    return 2;
  },
  c: 3,
};
const target = {
  set a(value) {
    for (const key of Object.keys(target)) delete target[key];
  },
};
Object.assign(target, source);
({ ...source });
Object.entries(source);
globalThis.structuredClone?.(source);
return "survived";
