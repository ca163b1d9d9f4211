// what: makes the substring search compare quadratically many characters in one native call
// expect: exceeded engine_seconds
return "a".repeat(1 << 22).indexOf("a".repeat(1 << 21) + "b");
