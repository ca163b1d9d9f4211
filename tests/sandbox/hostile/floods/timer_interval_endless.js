// what: waits for ever while an interval keeps the script alive
// expect: exceeded engine_seconds
setInterval(() => {
  for (let i = 0; i < 2e5; i++);
}, 0);
await new Promise(() => {});
