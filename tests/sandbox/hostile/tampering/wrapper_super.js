// what: reaches for super in a wrapping method
// expect: failed SyntaxError
return super.constructor;
