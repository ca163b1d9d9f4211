// what: imports dynamically and swallows the failure, in the hope of a side effect
// expect: failed SyntaxError
import("std").catch(() => {});
return "side effect";
