// what: throws an error whose data and hint are cyclic, deep and large
// expect: failed Error
const error = new Error("x");
error.data = { big: "x".repeat(1e6) };
error.data.self = error.data;
error.hint = "h".repeat(1e6);
throw error;
