// what: uses what only sloppy code may, such as octal escapes, with and assignment to undeclared names
// expect: finished [8,"leaked",5]
const octal = 010;
undeclared = "leaked";
let inside;
with ({ value: 5 }) inside = value;
return [octal, undeclared, inside];
