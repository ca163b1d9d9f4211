// what: restarts a spinning promise chain from its own catch handler
// expect: exceeded engine_seconds
const start = () =>
  Promise.resolve()
    .then(() => {
      for (;;);
    })
    .catch(start)
    .finally(start);
await start();
