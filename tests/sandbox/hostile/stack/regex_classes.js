// what: compiles deeply nested character classes
// expect: failed SyntaxError
return new RegExp("[".repeat(5e4) + "a" + "]".repeat(5e4), "v").test("a");
