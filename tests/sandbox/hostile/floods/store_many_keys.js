// what: stores tiny values under endless keys
// expect: failed too_many_stored
for (let i = 0; ; i++) store("k" + i, 0);
