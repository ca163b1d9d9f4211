// what: throws what the engine would throw when the stack ran out
// expect: failed RangeError
throw new RangeError("Maximum call stack size exceeded");
