// what: calls the resolve element functions of Promise.all and any more than once
// expect: finished "survived"
class Eager extends Promise {
  then(onFulfilled, onRejected) {
    onFulfilled?.(1);
    onFulfilled?.(2);
    onRejected?.(new Error("x"));
    onRejected?.(new Error("y"));
    return super.then(onFulfilled, onRejected);
  }
}
for (const name of ["all", "allSettled", "any", "race"]) {
  await Eager[name]([Eager.resolve(1), Eager.resolve(2), Eager.resolve(3)]).catch(() => {});
}
return "survived";
