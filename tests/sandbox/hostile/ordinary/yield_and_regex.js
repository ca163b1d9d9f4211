// what: uses generators with yield before a regular expression and divisions in plain code
// expect: finished [true,2]
function* patterns() {
  yield /a\/b/;
}
const [pattern] = patterns();
let total = 8, parts = 2, g = 2;
return [pattern.test("a/b"), total / parts / g];
