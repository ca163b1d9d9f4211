// what: recurses through a setter
// expect: failed RangeError
const node = {
  set next(value) {
    this.next = value;
  },
};
node.next = 1;
