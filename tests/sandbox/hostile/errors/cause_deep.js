// what: throws an error with ten thousand causes
// expect: failed Error
let error = new Error("root");
for (let i = 0; i < 10000; i++) error = new Error("layer", { cause: error });
throw error;
