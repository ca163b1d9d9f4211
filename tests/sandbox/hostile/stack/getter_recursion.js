// what: recurses through a getter
// expect: failed RangeError
const node = {
  get next() {
    return this.next;
  },
};
return node.next;
