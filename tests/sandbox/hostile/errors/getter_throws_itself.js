// what: throws an error whose getters throw the error again
// expect: failed Thrown
const error = new Error("x");
for (const key of ["name", "message", "stack", "cause", "hint", "data", "errors"]) {
  Object.defineProperty(error, key, {
    get() {
      throw error;
    },
  });
}
throw error;
