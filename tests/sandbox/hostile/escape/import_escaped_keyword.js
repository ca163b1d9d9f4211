// what: spells the import keyword with a unicode escape
// expect: failed SyntaxError
return typeof \u0069mport("std");
