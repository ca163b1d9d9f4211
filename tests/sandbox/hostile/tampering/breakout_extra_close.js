// what: ends with one closing brace too many
// expect: failed SyntaxError
return 1; }
