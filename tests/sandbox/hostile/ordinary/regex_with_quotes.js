// what: has regular expressions full of quotes, slashes and braces
// expect: finished [["'a'","\"b\""],"x","}"]
const quoted = `say 'a' and "b"`.match(/'[^']*'|"[^"]*"/g);
return [quoted, "/x/".replace(/[/'"`]/g, ""), "a}b".match(/[{}]/)[0]];
