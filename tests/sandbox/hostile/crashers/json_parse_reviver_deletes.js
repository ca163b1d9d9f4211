// what: deletes, replaces and revokes the holders that a reviver walks
// expect: finished "survived"
JSON.parse('{"a":[1,2,3,{"b":[4,5]}],"c":{"d":6}}', function (key, value) {
  if (Array.isArray(this)) this.length = 0;
  for (const name of Object.keys(this)) if (name !== key) delete this[name];
  const { proxy, revoke } = Proxy.revocable([1], {});
  if (key === "a") revoke();
  if (key === "1") this[2] = proxy;
  return value;
});
return "survived";
