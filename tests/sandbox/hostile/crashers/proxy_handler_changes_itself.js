// what: replaces the traps of a handler while one of them runs
// expect: finished "survived"
const handler = {
  get(target, key, receiver) {
    for (const name of Object.keys(handler)) delete handler[name];
    Object.setPrototypeOf(handler, new Proxy({}, { get: () => undefined }));
    return Reflect.get(target, key, receiver);
  },
};
const proxy = new Proxy({ a: 1 }, handler);
for (let i = 0; i < 100; i++) proxy["k" + i];
return "survived";
