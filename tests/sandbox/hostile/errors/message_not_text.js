// what: throws errors whose name, message and stack are not text
// expect: failed Thrown
const error = new Error("x");
error.name = { toString: () => "Forged" };
error.message = Symbol("message");
Object.defineProperty(error, "stack", { value: 12 });
throw error;
