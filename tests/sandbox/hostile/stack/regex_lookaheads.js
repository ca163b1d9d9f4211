// what: compiles a pattern of deeply nested lookaheads
// expect: failed SyntaxError
return new RegExp("(?=".repeat(5e4) + "a" + ")".repeat(5e4)).test("a");
