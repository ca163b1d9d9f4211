// what: calls a function bound two thousand times
// expect: failed RangeError
let bound = () => 1;
for (let i = 0; i < 2000; i++) bound = bound.bind(null);
return bound();
