// what: runs out of memory in a promise job whose failure nobody looks at
// expect: finished "unaware"
let kept = [];
Promise.resolve().then(() => {
  for (;;) kept.push(new Array(1000).fill(0));
});
await null;
await null;
kept = null;
return "unaware";
