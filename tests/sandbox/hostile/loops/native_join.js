// what: joins 2^53 - 1 missing elements with an empty separator inside one native call
// expect: exceeded engine_seconds
Array.prototype.join.call({ length: 2 ** 53 - 1 }, "");
