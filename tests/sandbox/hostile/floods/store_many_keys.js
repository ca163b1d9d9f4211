// what: stores tiny values under endless keys
// expect: failed store_full | exceeded engine_seconds
for (let i = 0; ; i++) store("k" + i, 0);
