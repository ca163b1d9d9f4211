// what: starts async functions that wait for a promise nobody settles
// expect: exceeded heap_bytes | exceeded engine_seconds
const never = new Promise(() => {});
async function wait() {
  await never;
}
for (;;) wait();
