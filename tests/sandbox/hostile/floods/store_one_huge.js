// what: stores one value above the limit
// expect: failed store_full
store("key", "x".repeat(2 << 20));
