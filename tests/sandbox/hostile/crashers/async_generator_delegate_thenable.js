// what: delegates with yield* to an object whose next result is a hostile thenable
// expect: finished "survived"
const source = {
  [Symbol.asyncIterator]: () => ({
    next: () => ({
      get then() {
        source.taken = (source.taken ?? 0) + 1;
        return source.taken > 3 ? undefined : (resolve, reject) => (resolve({ done: false, value: 1 }), reject(1));
      },
      done: true,
    }),
    return: undefined,
  }),
};
const it = (async function* () {
  yield* source;
})();
for (let i = 0; i < 10; i++) await it.next();
return "survived";
