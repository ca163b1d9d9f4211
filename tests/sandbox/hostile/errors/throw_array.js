// what: throws an array of errors
// expect: failed Thrown
throw [new Error("one"), new TypeError("two")];
