// what: returns an object that contains a promise
// expect: failed TypeError
return { inner: Promise.resolve(1) };
