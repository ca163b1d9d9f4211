// what: searches 2^53 - 1 missing elements inside one native call
// expect: exceeded engine_seconds
return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);
