// what: stores under a key of two million characters
// expect: failed store_full
store("k".repeat(2e6), 1);
