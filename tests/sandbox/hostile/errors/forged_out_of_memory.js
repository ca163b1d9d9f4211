// what: throws what the engine would throw when memory ran out
// expect: failed InternalError
throw new InternalError("out of memory");
