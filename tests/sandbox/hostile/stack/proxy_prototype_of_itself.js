// what: makes a proxy the prototype of its own target
// expect: failed RangeError
const target = {};
const proxy = new Proxy(target, {});
Object.setPrototypeOf(target, proxy);
return proxy.missing;
