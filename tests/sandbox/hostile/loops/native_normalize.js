// what: normalises megabytes of characters that decompose, again and again
// expect: exceeded engine_seconds
const text = "\u0390\u1fb7\u0301\u0323".repeat(1 << 18);
for (;;) text.normalize("NFKD").normalize("NFC");
