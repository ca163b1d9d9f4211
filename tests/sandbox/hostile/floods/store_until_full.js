// what: stores values until the store is full
// expect: finished "store_full"
try {
  for (let i = 0; ; i++) store("key " + i, "x".repeat(10000));
} catch (error) {
  return error.name;
}
