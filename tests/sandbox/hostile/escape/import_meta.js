// what: reads import.meta, which names the module's address
// expect: failed SyntaxError
return typeof import.meta.url;
