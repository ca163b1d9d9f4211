// what: backtracks through nested lazy groups and a back reference
// expect: exceeded engine_seconds
return /^(.*?)(.*?)(.*?)(.*?)(.*?)(.*?)\1\2\3\4\5\6!$/.test("ab".repeat(400));
