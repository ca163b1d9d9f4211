// what: throws in a promise reaction after the script has returned
// expect: finished 1
Promise.resolve().then(() => Promise.resolve()).then(() => {
  throw new Error("too late");
});
return 1;
