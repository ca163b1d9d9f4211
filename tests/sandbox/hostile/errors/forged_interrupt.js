// what: throws what the engine would throw for a script that ran too long
// expect: failed InternalError
throw new InternalError("interrupted");
