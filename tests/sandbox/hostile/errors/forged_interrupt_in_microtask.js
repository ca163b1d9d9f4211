// what: throws a forged interrupt where no promise catches it
// expect: failed InternalError
queueMicrotask(() => {
  throw new InternalError("interrupted");
});
await null;
return 1;
