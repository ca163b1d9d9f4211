// what: leaves a block comment open, hoping to swallow what the wrapper adds
// expect: failed SyntaxError
return 1;
/* swallow
