// what: changes the array iterator in the middle of spreading, apply and destructuring
// expect: finished "survived"
const list = [1, 2, 3];
Object.defineProperty(list, 1, {
  get() {
    list.length = 1;
    list.push(...new Array(100).fill(0));
    Array.prototype[Symbol.iterator] = function* () {};
    return 2;
  },
});
Math.max(...list);
Math.max.apply(null, list);
const [a, b, ...rest] = list;
return "survived";
