// what: reads new.target of a wrapping function
// expect: failed SyntaxError
return new.target ?? null;
