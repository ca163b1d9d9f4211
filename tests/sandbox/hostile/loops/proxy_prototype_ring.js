// what: walks a prototype ring closed through a proxy, which the cycle check cannot see
// expect: exceeded engine_seconds
const ring = {};
Object.setPrototypeOf(ring, new Proxy({}, { getPrototypeOf: () => ring }));
return Array.prototype.isPrototypeOf(ring);
