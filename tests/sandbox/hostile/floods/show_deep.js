// what: shows a value nested a thousand deep
// expect: failed too_deep
let nested = 1;
for (let i = 0; i < 1000; i++) nested = { nested };
show(nested);
