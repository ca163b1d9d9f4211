// what: deletes properties from the target while for-in walks a proxy of it
// expect: finished "survived"
const target = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => ["k" + i, i]));
const proxy = new Proxy(target, {
  getOwnPropertyDescriptor(object, key) {
    const found = Reflect.getOwnPropertyDescriptor(object, key);
    delete object["k" + Math.floor(Math.random() * 1000)];
    return found;
  },
});
for (const key in proxy);
return "survived";
