// what: returns a rope that is cheap inside the engine and half a gigabyte as text
// expect: exceeded heap_bytes
let rope = "0123456789abcdef";
while (rope.length < 2 ** 29) rope += rope;
return rope;
