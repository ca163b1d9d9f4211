// what: returns an object that contains itself
// expect: failed TypeError
const ring = { name: "ring" };
ring.self = ring;
return ring;
