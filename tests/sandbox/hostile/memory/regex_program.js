// what: compiles a short pattern whose counted groups expand to an enormous program
// expect: finished false
return new RegExp("(?:(?:(?:(?:a{999}b){999}c){999}d){999}e){999}").test("b");
