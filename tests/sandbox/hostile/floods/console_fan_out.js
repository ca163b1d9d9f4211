// what: prints a structure in which every level refers twice to the next
// expect: finished "printed"
let node = { leaf: true };
for (let i = 0; i < 60; i++) node = { left: node, right: node };
console.log(node);
return "printed";
