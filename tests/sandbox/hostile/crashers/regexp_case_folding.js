// what: matches case-insensitively over whole planes and characters that fold to several
// expect: finished "survived"
for (const flags of ["i", "iu", "iv"]) {
  new RegExp("[^\\u0000-\\uffff]|[\\u00df\\u0130\\u017f\\u212a]", flags).exec("\u0131SS\u{10ffff}\u{1f600}".repeat(100));
}
/[\p{Lu}--[A-Z]]|\P{ASCII}/v.exec("z".repeat(1000));
return "survived";
