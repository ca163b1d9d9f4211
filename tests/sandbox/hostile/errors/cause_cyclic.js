// what: throws an error that is its own cause, through another one
// expect: failed Error
const first = new Error("first");
const second = new Error("second", { cause: first });
first.cause = second;
throw first;
