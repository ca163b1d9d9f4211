// what: closes the wrapper behind a closing HTML-like comment that another parser reads as two operators
// expect: failed SyntaxError
let x = 0;
(x
--> `
); }); show("outside"); (async () => { (0
// `
);
return "inside";
