// what: evaluates one class definition for ever and keeps every class
// expect: exceeded heap_bytes
const kept = [];
for (;;) {
  kept.push(
    class {
      #secret = 1;
      static shared = [1, 2, 3];
      get secret() {
        return this.#secret;
      }
    },
  );
}
