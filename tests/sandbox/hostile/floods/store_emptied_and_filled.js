// what: frees and fills the store over and over, to make the account drift below zero
// expect: finished "store_full"
for (let i = 0; i < 200; i++) {
  store("key", "x".repeat(1000));
  store("key", undefined);
  store("key", undefined);
  store("never stored", undefined);
}
try {
  store("key", "x".repeat((1 << 20) + 1));
} catch (error) {
  return error.name;
}
