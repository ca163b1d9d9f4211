// what: compiles a pattern of a hundred thousand nested groups
// expect: failed SyntaxError
return new RegExp("(".repeat(1e5) + ")".repeat(1e5)).test("");
