// what: throws an error whose cause getter throws
// expect: failed Error
const error = new Error("x");
Object.defineProperty(error, "cause", {
  get() {
    throw new Error("cause");
  },
});
throw error;
