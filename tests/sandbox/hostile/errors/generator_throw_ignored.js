// what: throws into a generator that catches and yields for ever
// expect: finished 1000
function* stubborn() {
  for (let n = 0; ; ) {
    try {
      yield n;
    } catch {
      n++;
    }
  }
}
const it = stubborn();
it.next();
let last;
for (let i = 0; i < 1000; i++) last = it.throw(new Error("x"));
return last.value;
