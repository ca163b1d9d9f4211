// what: recurses through the get trap of a proxy that reads itself
// expect: failed RangeError
const mirror = new Proxy({}, { get: (target, key, receiver) => receiver[key] });
return mirror.anything;
