// what: squares the length of a string by replacing each character with the whole
// expect: exceeded heap_bytes
let text = "abcdefgh";
for (;;) text = text.replace(/./g, text);
