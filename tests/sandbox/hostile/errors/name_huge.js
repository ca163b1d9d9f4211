// what: throws an error whose name has a million characters
// expect: failed
const error = new Error("x");
error.name = "N".repeat(1e6);
throw error;
