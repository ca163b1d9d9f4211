// what: lets the species constructor of concat return a frozen or shared array
// expect: finished "survived"
const source = [1, 2, 3];
for (const make of [() => Object.freeze([]), () => source, () => new Proxy([], {}), () => new Uint8Array(2)]) {
  source.constructor = { [Symbol.species]: function () { return make(); } };
  for (const act of [() => source.concat(source, source), () => source.map(x => x), () => source.splice(0, 1), () => source.filter(Boolean)]) {
    try {
      act();
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    }
  }
}
return "survived";
