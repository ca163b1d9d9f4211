// what: imports with a statement
// expect: failed SyntaxError
import * as os from "os";
return typeof os;
