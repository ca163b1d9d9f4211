// what: throws an error with NUL characters in name and message
// expect: failed
const error = new Error("before\0after");
error.name = "Na\0me";
throw error;
