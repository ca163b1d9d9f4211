// what: closes the wrapper behind a carriage return inside what looks like one comment
// expect: failed SyntaxError
// looks like one comment
}); show("outside"); (async () => {
return "inside";
