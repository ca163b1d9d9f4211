// what: throws an error whose message getter spins while the host reads it
// expect: exceeded engine_seconds
const error = new Error("x");
Object.defineProperty(error, "message", {
  get() {
    for (;;);
  },
});
throw error;
