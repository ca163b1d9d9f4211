// what: makes dates at and beyond the edges of time and parses broken ones
// expect: finished "survived"
for (const value of [8.64e15, 8.64e15 + 1, -8.64e15, NaN, Infinity, 1e308, "+275760-09-13T00:00:00.001Z", "-000000-01-01", "x".repeat(100000), "1".repeat(100000), "Jan " + "(".repeat(10000)]) {
  const date = new Date(value);
  for (const name of ["toString", "toUTCString", "getTimezoneOffset", "toLocaleString", "toJSON"]) date[name]();
  date.setFullYear(1e9, -1e9, 1e9);
  Date.UTC(value, value, value);
}
return "survived";
