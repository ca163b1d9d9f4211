// what: percent-encodes a long string for ever
// expect: exceeded engine_seconds
const text = "\u20ac".repeat(1 << 19);
for (;;) encodeURIComponent(text);
