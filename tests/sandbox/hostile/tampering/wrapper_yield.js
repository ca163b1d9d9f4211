// what: yields in the hope that the wrapper is a generator
// expect: failed SyntaxError
yield 1;
