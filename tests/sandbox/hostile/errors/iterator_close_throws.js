// what: throws from the return method of an iterator while another error is on its way
// expect: failed TypeError
const source = {
  [Symbol.iterator]: () => ({
    next: () => ({ value: 1 }),
    return() {
      throw new RangeError("from return");
    },
  }),
};
for (const value of source) throw new TypeError("from the body");
