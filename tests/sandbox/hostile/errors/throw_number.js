// what: throws a number
// expect: failed Thrown
throw 42;
