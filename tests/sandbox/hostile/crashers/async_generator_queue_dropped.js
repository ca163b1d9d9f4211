// what: queues many requests on an async generator and drops it with its promises
// expect: finished "survived"
for (let round = 0; round < 200; round++) {
  const it = (async function* () {
    await new Promise(() => {});
    yield it;
  })();
  for (let i = 0; i < 20; i++) it.next();
}
return "survived";
