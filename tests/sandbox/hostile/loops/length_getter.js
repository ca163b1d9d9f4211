// what: spins in a length getter read by a native array method
// expect: exceeded engine_seconds
Array.prototype.slice.call({
  get length() {
    for (;;);
  },
});
