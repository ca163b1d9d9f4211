// what: imports a module whose name is computed
// expect: failed SyntaxError
return typeof (await import(["s", "td"].join("")));
