// what: reads the environment as a Node script would
// expect: failed ReferenceError
return process.env.HOME;
