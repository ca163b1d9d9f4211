// what: builds a cheap rope of half a gigabyte and then forces it to be copied into one block
// expect: exceeded heap_bytes
let rope = "0123456789abcdef";
while (rope.length < 2 ** 29) rope += rope;
return rope.charCodeAt(12345);
