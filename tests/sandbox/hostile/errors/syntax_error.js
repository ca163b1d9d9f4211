// what: is not a script at all
// expect: failed SyntaxError
let let = = 1;
