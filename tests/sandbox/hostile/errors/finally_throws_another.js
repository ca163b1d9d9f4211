// what: replaces one error by another in a finally block
// expect: failed RangeError
try {
  throw new TypeError("first");
} finally {
  throw new RangeError("second");
}
