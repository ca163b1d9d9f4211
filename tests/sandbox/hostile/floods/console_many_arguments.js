// what: prints sixty thousand arguments in one call
// expect: finished "printed"
console.log(...new Array(60000).fill("argument"));
return "printed";
