// what: hides a dynamic import in a default parameter that is never used
// expect: failed SyntaxError
const never = (module = import("std")) => module;
return typeof never;
