// what: spreads an endless generator into an array
// expect: exceeded heap_bytes
function* ones() {
  for (;;) yield 1;
}
return [...ones()].length;
