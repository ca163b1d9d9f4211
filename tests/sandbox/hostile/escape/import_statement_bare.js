// what: imports for side effects only
// expect: failed SyntaxError
import "std";
