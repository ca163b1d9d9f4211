// what: shows with options that are proxies, getters and wrong types
// expect: finished "shown"
for (const options of [null, 1, "as", [], new Proxy({}, { get: () => () => {} }), { max_bytes: Infinity }, { lines: -1 }, { get as() { throw new Error("as"); } }]) {
  try {
    show("value", options);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}
return "shown";
