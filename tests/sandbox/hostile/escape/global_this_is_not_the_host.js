// what: checks that the global object has no host object on its prototype chain
// expect: finished ["[object global]",1]
let depth = 0;
for (let o = Object.getPrototypeOf(globalThis); o; o = Object.getPrototypeOf(o)) depth++;
return [Object.prototype.toString.call(globalThis), depth];
