// what: searches backwards through 2^53 - 1 missing elements
// expect: exceeded engine_seconds
return Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1);
