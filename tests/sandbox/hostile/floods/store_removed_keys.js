// what: removes thousands of keys that were never stored, each of which the host must note
// expect: failed too_many_stored
for (let i = 0; i < 100000; i++) store("key " + i, undefined);
return "removed";
