// what: throws an error whose stack getter throws
// expect: failed Error
const error = new Error("x");
Object.defineProperty(error, "stack", {
  get() {
    throw new Error("stack");
  },
});
throw error;
