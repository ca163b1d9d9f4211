// what: evaluates a tagged template recursively and changes what it can of its frozen strings
// expect: finished "survived"
const seen = new Set();
const tag = strings => {
  seen.add(strings);
  try {
    strings.raw = null;
    strings.length = 0;
  } catch {}
  return strings;
};
const dive = n => (n ? (dive(n - 1), tag`a${n}b`) : tag`end`);
for (let i = 0; i < 100; i++) dive(20);
return seen.size <= 2 ? "survived" : "not cached";
