// what: tries to continue the parameter list or the arrow of a wrapper
// expect: failed SyntaxError
) => { return 1 }, (
