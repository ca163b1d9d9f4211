// what: keeps the mapped arguments of generators and async functions alive after they are gone
// expect: finished 1000
const kept = [];
for (let i = 0; i < 1000; i++) {
  const it = (function* (a, b) {
    kept.push(arguments);
    yield (a = b);
    arguments[1] = a;
  })(i, { i });
  it.next();
  if (i % 2) it.next();
}
for (let i = 0; i < 3000; i++) new Array(100).fill({});
return kept.filter(list => list[0].i !== undefined).length;
