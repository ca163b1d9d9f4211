// what: wraps a proxy around a proxy for ever
// expect: exceeded heap_bytes
let proxy = {};
for (;;) proxy = new Proxy(proxy, {});
