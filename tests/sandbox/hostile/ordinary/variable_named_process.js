// what: names its variables like host globals
// expect: finished [1,2,3,4]
const process = { env: 1 };
const require = name => name.length;
let module = 3, global = 4;
return [process.env, require("fs"), module, global];
