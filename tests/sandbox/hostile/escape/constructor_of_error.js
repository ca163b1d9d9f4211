// what: walks from a caught error through constructor to Function
// expect: failed EvalError
try {
  null.property;
} catch (error) {
  return error.constructor.constructor("return 1")();
}
