// what: returns a thenable that resolves, rejects and throws one after the other
// expect: finished "first"
return {
  then(resolve, reject) {
    resolve("first");
    reject(new Error("second"));
    resolve("third");
    throw new Error("fourth");
  },
};
