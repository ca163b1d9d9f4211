// what: pads strings to a megabyte in an endless loop, so that most time is spent in native code
// expect: exceeded engine_seconds
for (;;) "x".padEnd(1 << 20, "ab").at(-1);
