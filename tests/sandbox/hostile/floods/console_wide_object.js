// what: prints an object with two hundred thousand properties
// expect: finished "printed"
const wide = {};
for (let i = 0; i < 100000; i++) wide["k" + i] = i;
console.log(wide);
return "printed";
