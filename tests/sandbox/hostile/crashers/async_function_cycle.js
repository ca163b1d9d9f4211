// what: drops async functions that wait for promises held only by their own frames
// expect: finished "survived"
for (let i = 0; i < 20000; i++) {
  (async () => {
    const box = {};
    box.promise = new Promise(resolve => (box.resolve = resolve));
    await box.promise;
    return box;
  })();
}
return "survived";
