// what: reads a variable before its declaration
// expect: failed ReferenceError
return later;
let later = 1;
