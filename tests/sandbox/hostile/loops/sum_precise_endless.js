// what: sums an endless stream inside one native call
// expect: exceeded engine_seconds
function* ones() {
  for (;;) yield 1;
}
return Math.sumPrecise(ones());
