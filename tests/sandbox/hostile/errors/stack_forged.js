// what: throws an error whose stack names files of the host and impossible positions
// expect: failed Error
const error = new Error("x");
error.stack = "at root (/etc/shadow:1:1)\n    at f (<input>:99999999999999999999:-1)\n    at (<input>:1002:999999)\n";
throw error;
