// what: doubles a string by concatenation until its length is no longer legal
// expect: failed InternalError
let text = "x";
for (;;) text += text;
