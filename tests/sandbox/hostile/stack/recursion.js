// what: calls itself without end
// expect: failed RangeError
const dive = n => dive(n + 1) + 1;
return dive(0);
