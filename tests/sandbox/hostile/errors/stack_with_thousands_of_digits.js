// what: throws an error whose stack has a line number of five thousand digits
// expect: failed Error
const error = new Error("x");
error.stack = `    at f (<input>:${"9".repeat(5000)}:1)\n`;
throw error;
