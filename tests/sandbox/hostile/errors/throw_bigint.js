// what: throws a very long integer
// expect: failed Thrown
throw 10n ** 5000n;
