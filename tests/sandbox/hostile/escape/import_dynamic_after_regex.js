// what: hides a dynamic import behind slashes that could be read as a regular expression
// expect: failed SyntaxError
const a = 4, g = 2;
return a / 2 + typeof import("std") / g;
