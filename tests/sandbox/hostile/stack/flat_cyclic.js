// what: flattens an array that contains itself
// expect: failed RangeError
const ring = [1];
ring.push(ring);
return ring.flat(Infinity).length;
