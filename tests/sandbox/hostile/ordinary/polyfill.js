// what: adds methods to built-in prototypes, as polyfills do
// expect: finished ["cba",[2,3],1]
// calls: bench.echo
String.prototype.reversed = function () {
  return [...this].reverse().join("");
};
Array.prototype.tail ??= function () {
  return this.slice(1);
};
Object.defineProperty(Object.prototype, "first", { get() { return this[0]; } });
const list = await tools.bench.echo([1, 2, 3]);
return ["abc".reversed(), list.tail(), list.first];
