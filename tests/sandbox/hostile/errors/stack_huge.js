// what: throws an error whose stack is a text of four million characters
// expect: failed Error
const error = new Error("x");
error.stack = "    at f (<input>:1002:1)\n".repeat(160000);
throw error;
