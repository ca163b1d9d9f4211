// what: throws an error whose stack getter spins if the host reads it
// expect: failed Error
const error = new Error("x");
Object.defineProperty(error, "stack", {
  get() {
    for (;;);
  },
});
throw error;
