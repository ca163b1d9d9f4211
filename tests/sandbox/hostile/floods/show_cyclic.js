// what: shows an object that contains itself
// expect: failed TypeError
const ring = [];
ring.push(ring);
show(ring);
