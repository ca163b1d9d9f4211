// what: makes garbage cycles as fast as it can, which a working collector keeps up with
// expect: finished "collected"
for (let i = 0; i < 20000; i++) {
  const one = { pad: new Array(100).fill(i) };
  one.self = one;
}
return "collected";
