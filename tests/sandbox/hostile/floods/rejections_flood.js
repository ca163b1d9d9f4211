// what: makes a hundred thousand rejected promises that nobody handles
// expect: finished "left"
for (let i = 0; i < 20000; i++) Promise.reject(new Error("nobody"));
return "left";
