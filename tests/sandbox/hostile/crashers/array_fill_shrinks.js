// what: shortens an array while fill, copyWithin, slice, splice and with coerce their arguments
// expect: finished "survived"
for (const act of [
  (list, shrink) => list.fill(0, shrink(0), 10000),
  (list, shrink) => list.copyWithin(0, shrink(5000)),
  (list, shrink) => list.slice(shrink(0), 10000),
  (list, shrink) => list.splice(shrink(0), 5000, 1, 2, 3),
  (list, shrink) => list.with(shrink(9999), 1),
  (list, shrink) => list.toSpliced(shrink(100), 10),
  (list, shrink) => list.at(shrink(9000)),
  (list, shrink) => list.flat(shrink(2)),
  (list, shrink) => list.join({ toString: () => (shrink(0).valueOf(), "-") }),
]) {
  const list = new Array(10000).fill({});
  act(list, value => ({ valueOf: () => ((list.length = 2), value) }));
}
return "survived";
