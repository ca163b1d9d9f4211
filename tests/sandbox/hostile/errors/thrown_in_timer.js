// what: throws in a timer callback while the script waits
// expect: failed Error
setTimeout(() => {
  throw new Error("in the timer");
}, 1);
await sleep(1000);
await sleep(1000);
return "not reached";
