// what: slices, pads and compares strings of mixed width at their edges
// expect: finished "survived"
const wide = "a\u{1f600}\ud800\u0130".repeat(1000);
for (const position of [-(2 ** 53), -1, 0, 1, 3999, 4000, 2 ** 31, 2 ** 53, NaN, Infinity]) {
  wide.at(position);
  wide.codePointAt(position);
  wide.slice(position, -position);
  wide.substr(position, 3);
  wide.lastIndexOf("\ud800", position);
  wide.startsWith("a", position);
}
wide.toUpperCase().toLowerCase().localeCompare(wide);
wide.isWellFormed();
wide.toWellFormed().split(/(?:)/u).reverse().join("");
return "survived";
