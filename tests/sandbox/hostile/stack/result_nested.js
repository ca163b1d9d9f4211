// what: returns an array nested a hundred thousand deep
// expect: failed too_deep
let nested = [];
for (let i = 0; i < 1e5; i++) nested = [nested];
return nested;
