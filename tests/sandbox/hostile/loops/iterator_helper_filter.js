// what: asks an iterator helper for the first match in an endless stream without matches
// expect: exceeded engine_seconds
function* zeros() {
  for (;;) yield 0;
}
return zeros().filter(Boolean).next();
