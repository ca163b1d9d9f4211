// what: frees a hundred thousand nested proxies at once
// expect: finished "freed"
let proxy = {};
for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {});
proxy = null;
return "freed";
