// what: mixes types in compound assignments while the operands change under them
// expect: finished "survived"
let value = 1n;
const holder = {
  get x() {
    value = "text";
    return 2n ** 200n;
  },
};
for (let i = 0; i < 1000; i++) {
  value = 1n;
  value += holder.x;
  let text = "a".repeat(300);
  text += { toString: () => ((text = null), "b".repeat(300)) };
  text += 1n;
}
return "survived";
