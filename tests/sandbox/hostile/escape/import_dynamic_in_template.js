// what: hides a dynamic import in the expression of a template literal
// expect: failed SyntaxError
return `text ${await import("std")} text`;
