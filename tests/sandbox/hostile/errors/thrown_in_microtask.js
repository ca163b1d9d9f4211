// what: throws in a microtask that no promise watches
// expect: failed Error
queueMicrotask(() => {
  throw new Error("late");
});
return 1;
