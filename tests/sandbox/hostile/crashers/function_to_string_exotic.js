// what: asks for the source of every kind of function, bound, native and proxied
// expect: finished "survived"
for (const f of [async () => {}, function* () {}, class { static #x = 1; }, Math.max, (() => {}).bind(), Object.getOwnPropertyDescriptor(Map.prototype, "size").get]) {
  if (typeof Function.prototype.toString.call(f) !== "string") throw new Error("no text");
}
Function.prototype.toString.call(new Proxy(function () {}, {}));
return "survived";
