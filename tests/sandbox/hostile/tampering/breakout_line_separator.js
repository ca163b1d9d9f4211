// what: closes the wrapper behind a line separator inside what looks like one comment
// expect: failed SyntaxError
// looks like one comment }); show("outside"); (async () => {
return "inside";
