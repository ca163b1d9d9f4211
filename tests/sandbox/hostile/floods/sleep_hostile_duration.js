// what: sleeps for an object whose conversion throws
// expect: failed RangeError
await sleep({
  valueOf() {
    throw new RangeError("never");
  },
});
