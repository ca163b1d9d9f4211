// what: stringifies a proxy of an array that claims four thousand million elements
// expect: exceeded engine_seconds
const claim = new Proxy([], { get: (target, key) => (key === "length" ? 2 ** 32 - 1 : undefined) });
return JSON.stringify(claim).length;
