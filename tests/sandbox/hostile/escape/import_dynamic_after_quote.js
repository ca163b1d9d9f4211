// what: hides a dynamic import behind an escaped quote that a naive scanner would misread
// expect: failed SyntaxError
const decoy = 'it\'s "only" text: \\';
return typeof import("std") + decoy;
