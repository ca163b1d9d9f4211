// what: starves the host through queueMicrotask instead of promises
// expect: exceeded engine_seconds | exceeded jobs
const again = () => queueMicrotask(again);
again();
await new Promise(() => {});
