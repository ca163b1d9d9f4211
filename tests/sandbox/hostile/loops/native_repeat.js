// what: repeats a long string in an endless loop and throws the copies away
// expect: exceeded engine_seconds
for (;;) "0123456789".repeat(1 << 20).at(-1);
