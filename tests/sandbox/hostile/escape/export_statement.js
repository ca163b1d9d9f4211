// what: exports a value as a module would
// expect: failed SyntaxError
export const value = 1;
