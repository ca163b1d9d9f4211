// what: makes suspended generators that only they themselves refer to
// expect: finished "survived"
for (let i = 0; i < 20000; i++) {
  const it = (function* () {
    const self = it;
    const closure = () => self;
    yield closure;
    yield self;
  })();
  it.next();
}
return "survived";
