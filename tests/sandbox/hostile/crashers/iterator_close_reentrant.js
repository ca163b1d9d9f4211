// what: closes an iterator from inside its own return, through destructuring and from()
// expect: finished "survived"
let depth = 0;
const source = {
  [Symbol.iterator]() {
    return this;
  },
  next: () => ({ value: 1, done: false }),
  return() {
    if (depth++ < 100) {
      const [first] = source;
      for (const value of source) break;
    }
    return {};
  },
};
const [one] = source;
new Map(Iterator.from([[1, 1]]));
return "survived";
