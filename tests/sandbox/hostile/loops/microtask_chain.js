// what: starves the host with one promise job that always queues the next one
// expect: exceeded engine_seconds | exceeded jobs
const again = () => {
  Promise.resolve().then(again);
};
again();
await new Promise(() => {});
