// what: ends in a backslash, which could join the last line with the wrapper's
// expect: failed SyntaxError
return 1 \