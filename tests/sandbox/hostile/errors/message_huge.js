// what: throws an error with a message of eight million characters
// expect: failed Error
throw new Error("x".repeat(8e6));
