// what: throws an error named like a verdict of the host
// expect: failed Deadlock | failed Error
const error = new Error("nothing is pending");
error.name = "Deadlock";
throw error;
