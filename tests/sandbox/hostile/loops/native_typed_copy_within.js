// what: moves megabytes inside a typed array in native code for ever
// expect: exceeded engine_seconds
const bytes = new Uint8Array(1 << 24);
for (;;) bytes.copyWithin(1, 0);
