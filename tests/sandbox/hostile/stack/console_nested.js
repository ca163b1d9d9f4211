// what: prints an array nested a hundred thousand deep
// expect: finished "printed"
let nested = [];
for (let i = 0; i < 1e5; i++) nested = [nested];
console.log(nested);
return "printed";
