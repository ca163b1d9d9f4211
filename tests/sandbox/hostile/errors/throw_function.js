// what: throws a function with a hostile name
// expect: failed Thrown
const thrown = () => {};
Object.defineProperty(thrown, "name", {
  get() {
    throw new Error("name");
  },
});
throw thrown;
