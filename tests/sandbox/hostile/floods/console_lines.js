// what: prints a hundred thousand lines
// expect: finished "printed"
for (let i = 0; i < 100000; i++) console.log(i);
return "printed";
