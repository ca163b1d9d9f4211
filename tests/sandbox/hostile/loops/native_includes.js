// what: asks whether 2^53 - 1 missing elements include a value
// expect: exceeded engine_seconds
return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);
