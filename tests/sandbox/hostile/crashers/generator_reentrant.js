// what: calls a generator from inside itself through next, return and throw
// expect: finished ["TypeError","TypeError","TypeError"]
const names = [];
const it = (function* () {
  for (const verb of ["next", "return", "throw"]) {
    try {
      it[verb](1);
    } catch (error) {
      names.push(error.name);
    }
  }
  yield 1;
})();
it.next();
return names;
