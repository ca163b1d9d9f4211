// what: leaves a template literal open, hoping to swallow what the wrapper adds
// expect: failed SyntaxError
return `swallow
