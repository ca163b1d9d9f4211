// what: throws an error whose cause is a large object with getters
// expect: failed Error
throw new Error("x", {
  cause: {
    list: new Array(100000).fill("item"),
    get message() {
      throw new Error("message");
    },
  },
});
