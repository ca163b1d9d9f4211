// what: changes lastIndex, flags and source from the conversions that exec makes
// expect: finished "survived"
const pattern = /a(b)?/gy;
pattern.lastIndex = {
  valueOf() {
    pattern.compile?.("(((((x)))))", "g");
    return 0;
  },
};
pattern.exec("ababab");
pattern.lastIndex = 2 ** 53;
pattern.exec("ab");
pattern.lastIndex = -1;
"abab".replace(pattern, () => ((pattern.lastIndex = 10000), "x"));
return "survived";
