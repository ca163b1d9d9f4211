// what: starts intervals that each start more intervals
// expect: failed too_many_waits | exceeded engine_seconds
const multiply = () => {
  setInterval(multiply, 0);
  setInterval(multiply, 0);
};
multiply();
for (;;) await sleep(0);
