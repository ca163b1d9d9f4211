// what: calls a function through a hundred thousand nested proxies
// expect: failed RangeError
let proxy = () => 1;
for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {});
return proxy();
