// what: removes the last reference to a key while the map still walks over it
// expect: finished "survived"
let key = { big: new Array(1000).fill(0) };
const map = new Map([[key, 1], [{}, 2]]);
const it = map.keys();
it.next();
map.delete(key);
key = null;
for (let i = 0; i < 2000; i++) new Array(100).fill({});
it.next();
it.next();
return "survived";
