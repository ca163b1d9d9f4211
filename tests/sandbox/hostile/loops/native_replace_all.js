// what: runs many quadratic searches through replaceAll
// expect: exceeded engine_seconds
const text = "ab".repeat(1 << 19);
for (;;) text.replaceAll("ab".repeat(1 << 10) + "c", "");
