// what: redefines length, prototype and indexes of exotic objects with hostile descriptors
// expect: finished "survived"
for (const make of [() => [1, 2, 3], () => new Uint8Array(4), () => Object("text"), () => function () {}, () => (function () { return arguments; })(1, 2), () => new Map()]) {
  for (const key of ["length", "prototype", "0", "1", "-0", "4294967295", "1.5", Symbol.iterator]) {
    for (const descriptor of [{ value: -1 }, { value: 2 ** 40 }, { get: () => 1 }, { writable: false }, { enumerable: true, configurable: true }]) {
      try {
        Object.defineProperty(make(), key, descriptor);
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
      }
    }
  }
}
return "survived";
