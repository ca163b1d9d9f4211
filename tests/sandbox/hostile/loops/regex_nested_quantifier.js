// what: makes the regular expression engine backtrack exponentially
// expect: exceeded engine_seconds
return /^(a+)+$/.test("a".repeat(60) + "!");
