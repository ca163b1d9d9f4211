// what: lists the keys of a hundred thousand nested proxies
// expect: failed RangeError
let proxy = { value: 1 };
for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {});
return Object.keys(proxy);
