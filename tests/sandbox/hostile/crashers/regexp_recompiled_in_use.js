// what: recompiles a regular expression from the subject's own toString and from replace callbacks
// expect: finished "survived"
const pattern = /(a)(b)(c)/g;
pattern.exec({
  toString() {
    pattern.compile?.("z".repeat(1000));
    return "abc".repeat(100);
  },
});
"abcabc".replace(/(?<n>a)/g, (...args) => {
  pattern.compile?.(args.length.toString());
  return "$<n>$1$99$$";
});
return "survived";
