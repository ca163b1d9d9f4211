// what: changes the value from toJSON, getters and the replacer while it is being stringified
// expect: finished "survived"
const list = [1, { toJSON() { list.length = 0; return list; } }, 3];
try {
  JSON.stringify(list);
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
}
const object = { get a() { delete object.b; return 1; }, b: 2, c: 3 };
JSON.stringify(object, (key, value) => (key === "c" ? ((object.d = 1), value) : value), "\t".repeat(20));
JSON.stringify(object, new Proxy(["a", "b"], { get: (t, k) => (k === "length" ? 3 : t[k]) }));
return "survived";
