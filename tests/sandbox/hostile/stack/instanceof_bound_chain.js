// what: asks instanceof of a class bound two thousand times
// expect: failed RangeError
let bound = class {};
for (let i = 0; i < 2000; i++) bound = bound.bind(null);
return {} instanceof bound;
