// what: throws a thenable that resolves when asked
// expect: failed Thrown
throw { then: resolve => resolve("resolved") };
