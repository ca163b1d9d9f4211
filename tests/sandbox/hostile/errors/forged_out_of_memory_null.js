// what: throws null from a microtask, as the engine does when it cannot even make an error
// expect: failed Thrown
queueMicrotask(() => {
  throw null;
});
await null;
return 1;
