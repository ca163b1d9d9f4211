// what: throws a large typed array
// expect: failed
throw new Uint8Array(1 << 20);
