// what: spreads half a million values into the arguments of one function
// expect: failed RangeError
const many = new Array(500000).fill(1);
return Math.max(...many);
