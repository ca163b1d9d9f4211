// what: throws an error whose message getter throws
// expect: failed Thrown
const error = new Error("x");
Object.defineProperty(error, "message", {
  get() {
    throw new Error("message");
  },
});
throw error;
