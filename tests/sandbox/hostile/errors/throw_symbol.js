// what: throws a symbol, which cannot be turned into text implicitly
// expect: failed Thrown
throw Symbol("thrown");
