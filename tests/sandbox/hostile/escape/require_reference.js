// what: requires a module as a Node script would
// expect: failed ReferenceError
return require("child_process").execSync("id").toString();
