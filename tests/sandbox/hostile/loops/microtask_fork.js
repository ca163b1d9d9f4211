// what: lets every promise job queue two more
// expect: exceeded engine_seconds | exceeded jobs | exceeded heap_bytes
const split = () => {
  Promise.resolve().then(split);
  Promise.resolve().then(split);
};
split();
await new Promise(() => {});
