// what: asks Array.isArray of a hundred thousand nested proxies
// expect: finished true | failed RangeError
let proxy = [];
for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {});
return Array.isArray(proxy);
