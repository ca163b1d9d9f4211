// what: throws an error with a hundred thousand nested causes
// expect: failed Error
let error = new Error("root");
for (let i = 0; i < 1e5; i++) {
  const outer = Object.create(Error.prototype);
  outer.message = "wrapped";
  outer.cause = error;
  error = outer;
}
throw error;
