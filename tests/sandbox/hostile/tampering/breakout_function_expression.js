// what: closes a wrapping function expression early with all the brackets it might have
// expect: failed SyntaxError
}}))); show("outside"); (((async function () {{
