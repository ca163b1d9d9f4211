// what: throws an object that has no prototype
// expect: failed Thrown
throw Object.create(null);
