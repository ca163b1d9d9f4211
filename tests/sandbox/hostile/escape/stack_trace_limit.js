// what: sets Error.stackTraceLimit to nonsense and to a getter that throws
// expect: failed RangeError
for (const limit of [Infinity, -1, NaN, "x", null, {}, 2 ** 53]) {
  Error.stackTraceLimit = limit;
  new Error("sample").stack;
}
Object.defineProperty(Error, "stackTraceLimit", {
  get() {
    throw new Error("limit");
  },
});
const dive = () => dive() + 1;
dive();
