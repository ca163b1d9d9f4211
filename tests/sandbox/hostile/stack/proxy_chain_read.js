// what: reads a property through a hundred thousand nested proxies
// expect: failed RangeError
let proxy = { value: 1 };
for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {});
return proxy.value;
