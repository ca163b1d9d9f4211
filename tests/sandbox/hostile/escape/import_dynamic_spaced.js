// what: hides a dynamic import behind a comment and newlines
// expect: failed SyntaxError
return typeof (await import
/* a comment between */
("std"));
