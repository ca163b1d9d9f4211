// what: builds a set from an endless stream of one value, so that memory never grows
// expect: exceeded engine_seconds
function* same() {
  for (;;) yield 7;
}
return new Set(same()).size;
