// what: uses identifiers, keys and texts outside ASCII
// expect: finished {"größe":3,"日本":"語","emoji":"😀","line":"a\u2028b"}
const größe = [..."a😀b"].length;
return { größe, 日本: "語", emoji: "\u{1f600}", line: "a\u2028b" };
