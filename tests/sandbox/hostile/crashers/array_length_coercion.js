// what: changes an array from the conversion of the number its length is set to
// expect: finished "survived"
const list = new Array(1000).fill(0);
let calls = 0;
try {
  list.length = {
    valueOf() {
      calls++;
      list.length = 10;
      Object.defineProperty(list, "length", { writable: false });
      return 500;
    },
  };
} catch (error) {
  if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
}
return calls > 0 ? "survived" : "not asked";
