// what: resolves a promise with a promise, ten thousand times
// expect: finished 1
let promise = Promise.resolve(1);
for (let i = 0; i < 10000; i++) {
  const inner = promise;
  promise = new Promise(resolve => resolve(inner));
}
return await promise;
