// what: has quotes in comments that don't close
// expect: finished "it's fine"
// don't stop here: "half a quote, and a `backtick
/* it's still a comment: '" ` */
return "it's fine"; // isn't it?
