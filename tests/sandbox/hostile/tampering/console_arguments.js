// what: prints proxies, revoked proxies, symbols, getters and classes with hostile conversions
// expect: finished "printed"
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const hostile = {
  get [Symbol.toStringTag]() {
    throw new Error("tag");
  },
  get constructor() {
    throw new Error("constructor");
  },
  get a() {
    throw new Error("getter");
  },
};
for (const value of [revoked.proxy, hostile, Symbol("s"), 10n, null, undefined, new Proxy(() => {}, {}), class {}, -0, NaN, Object.create(null)]) {
  try {
    console.log("value %s %o", value, value);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}
return "printed";
