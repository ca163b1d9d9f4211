// what: hides a dynamic import in text that is a regular expression for whoever takes yield for a keyword
// expect: failed SyntaxError | finished "reached"
globalThis["yield"] = 1;
yield /import("std")/+1;
return "reached";
