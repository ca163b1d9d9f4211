// what: delegates from generator to generator a hundred thousand times and asks for one value
// expect: failed RangeError
function* wrap(inner) {
  yield* inner;
}
let chain = [1].values();
for (let i = 0; i < 1e5; i++) chain = wrap(chain);
return chain.next();
