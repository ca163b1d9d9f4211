// what: returns an object whose getter throws while the host reads it
// expect: failed RangeError
return {
  get value() {
    throw new RangeError("while reading");
  },
};
