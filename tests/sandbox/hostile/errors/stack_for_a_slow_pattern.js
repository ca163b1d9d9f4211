// what: throws an error whose stack is made to slow down a pattern that looks for positions
// expect: failed Error
const error = new Error("x");
error.stack = "    at " + "(<input>:".repeat(500) + "1".repeat(1000) + ":".repeat(1000);
throw error;
