// what: nests console groups without end and prints in them
// expect: finished "printed"
for (let i = 0; i < 50000; i++) console.group?.("group");
console.log("inside\n".repeat(1000));
return "printed";
