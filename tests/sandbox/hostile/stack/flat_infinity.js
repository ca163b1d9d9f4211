// what: flattens an array nested a hundred thousand deep
// expect: failed RangeError
let nested = [];
for (let i = 0; i < 1e5; i++) nested = [nested];
return nested.flat(Infinity).length;
