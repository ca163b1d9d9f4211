// what: hides a dynamic import from a parser that takes the HTML-like comment before it for an operator
// expect: failed SyntaxError
let x = 0;
x <!--x + `
import("std");
// `;
return "reached";
