// what: closes the wrapper in text that one parser reads as a comment and another as a template literal
// expect: failed SyntaxError
let x = 0;
x <!--x + `
}); show("outside"); (async () => {
// `;
return "inside";
