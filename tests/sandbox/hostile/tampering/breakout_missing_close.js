// what: leaves a block open, hoping that the wrapper closes it
// expect: failed SyntaxError
if (true) {
  return 1;
