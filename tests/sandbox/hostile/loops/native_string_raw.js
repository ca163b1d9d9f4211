// what: asks String.raw to walk a template of 2^53 - 1 empty parts
// expect: exceeded engine_seconds
return String.raw({ raw: new Proxy({ length: 2 ** 53 - 1 }, { get: (t, k) => (k === "length" ? t.length : "") }) });
