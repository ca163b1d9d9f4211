// what: tries to restore a working Function from a prototype or by deleting the replacement
// expect: failed TypeError
delete Function.prototype.constructor;
delete globalThis.Function;
return Object.getPrototypeOf(Object.getPrototypeOf(async () => {})).constructor("return 1")();
