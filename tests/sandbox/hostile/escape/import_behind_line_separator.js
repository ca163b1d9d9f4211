// what: hides a dynamic import behind a line separator that ends a comment only for a careful parser
// expect: failed SyntaxError
// looks like one comment import("std");
return "reached";
