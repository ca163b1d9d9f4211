// what: calls the functions that the command line shell of the engine would offer
// expect: failed ReferenceError
return std.loadFile("/etc/passwd");
