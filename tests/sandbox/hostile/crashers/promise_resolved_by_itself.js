// what: resolves promises with themselves and settles them from their own getters
// expect: finished ["TypeError","TypeError"]
const names = [];
let resolve;
const promise = new Promise(r => (resolve = r));
resolve(promise);
await promise.catch(error => names.push(error.name));
const derived = Promise.resolve().then(() => derived);
await derived.catch(error => names.push(error.name));
return names;
