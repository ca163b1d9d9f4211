// what: uses a half-gigabyte rope as a property key, which must become an atom
// expect: exceeded heap_bytes
let rope = "k";
while (rope.length < 2 ** 29) rope += rope;
return { [rope]: 1 };
