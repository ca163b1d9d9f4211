// what: looks for arguments, this and new.target of a wrapping function
// expect: failed ReferenceError
return [arguments.length, this === undefined || this === globalThis];
