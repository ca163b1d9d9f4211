// what: throws a promise that never settles
// expect: failed Thrown
throw new Promise(() => {});
