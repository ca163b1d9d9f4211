// what: prints and stores from inside a cyclic value, to confuse a check that remembers the way
// expect: failed TypeError | failed too_deep
const ring = {
  get self() {
    store("key", [1]);
    return ring;
  },
};
return ring;
