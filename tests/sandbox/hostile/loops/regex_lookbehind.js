// what: backtracks inside a lookbehind, which is matched from right to left
// expect: exceeded engine_seconds
return /(?<=y(?:x+)+)z/.test("x".repeat(60) + "z");
