// what: imports a host module dynamically
// expect: failed SyntaxError
const os = await import("os");
return typeof os;
