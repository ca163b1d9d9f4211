// what: returns at once but leaves an async function spinning in the job queue
// expect: exceeded engine_seconds
(async () => {
  await null;
  for (;;);
})();
await new Promise(resolve => queueMicrotask(() => queueMicrotask(resolve)));
return "left a task behind";
