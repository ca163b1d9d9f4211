// what: prints one line of eight million characters
// expect: finished "printed"
console.log("x".repeat(8e6));
return "printed";
