// what: closes the wrapper in text that is a regular expression for whoever takes yield for a keyword, and a division otherwise
// expect: failed SyntaxError
let x = 1;
yield /x}); show("outside"); (async () => {/.y/+1;
return "inside";
