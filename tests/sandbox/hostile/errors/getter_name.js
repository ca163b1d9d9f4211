// what: throws an error whose name getter throws
// expect: failed Error
const error = new Error("x");
Object.defineProperty(error, "name", {
  get() {
    throw new Error("name");
  },
});
throw error;
