// what: throws an error with a message of a hundred thousand lines
// expect: failed Error
throw new Error("line\n".repeat(1e5));
