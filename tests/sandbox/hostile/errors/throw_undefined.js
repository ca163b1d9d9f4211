// what: throws undefined
// expect: failed Thrown
throw undefined;
