// what: flattens a rope that leans to the left over a hundred thousand nodes
// expect: finished 300000
let rope = "x";
for (let i = 1; i < 1e5; i++) rope = rope + "abc";
return (rope + "ab").replaceAll("z", "").length;
