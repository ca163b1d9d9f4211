// what: waits for a promise that nobody will settle
// expect: failed Deadlock
await new Promise(() => {});
