// what: lets a generator delegate to a new one of itself without end
// expect: failed RangeError
function* dive() {
  yield* dive();
}
return dive().next();
