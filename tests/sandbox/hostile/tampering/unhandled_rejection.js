// what: leaves a rejected promise behind that nobody handles
// expect: finished 1
Promise.reject(new Error("nobody looks"));
return 1;
