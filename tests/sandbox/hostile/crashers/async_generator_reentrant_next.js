// what: calls next on an async generator from inside its own body
// expect: finished ["first","second"]
let inner;
const it = (async function* () {
  inner = it.next();
  yield "first";
  yield "second";
})();
const outer = await it.next();
return [outer.value, (await inner).value];
