// what: points Error.captureStackTrace at frozen, proxied and foreign objects
// expect: finished "captured"
// calls: bench.echo
for (const target of [Object.freeze({}), new Proxy({}, { defineProperty: () => { throw new TypeError("no"); } }), tools, globalThis]) {
  try {
    Error.captureStackTrace(target);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
return "captured";
