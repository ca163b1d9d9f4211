// what: backtracks through alternatives that match the same text
// expect: exceeded engine_seconds
return /^(?:a|a|aa)+$/.test("a".repeat(80) + "b");
