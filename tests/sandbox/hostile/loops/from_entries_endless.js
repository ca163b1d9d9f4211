// what: builds an object from an endless stream of one entry
// expect: exceeded engine_seconds
function* same() {
  const entry = ["key", 1];
  for (;;) yield entry;
}
return Object.fromEntries(same());
