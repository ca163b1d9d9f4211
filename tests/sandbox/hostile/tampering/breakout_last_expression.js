// what: ends in an expression that would close a parenthesis put around it
// expect: failed SyntaxError
1); show("outside"); (2
