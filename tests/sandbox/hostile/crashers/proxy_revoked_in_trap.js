// what: revokes a proxy from inside its own trap and goes on using the target
// expect: finished ["TypeError","value"]
const { proxy, revoke } = Proxy.revocable(
  { key: "value" },
  {
    get(target, key) {
      revoke();
      return target[key];
    },
  },
);
const first = proxy.key;
try {
  proxy.key;
} catch (error) {
  return [error.name, first];
}
