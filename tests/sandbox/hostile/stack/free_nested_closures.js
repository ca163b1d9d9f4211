// what: frees a chain of a hundred thousand closures at once
// expect: finished "freed"
let chain = () => 0;
for (let i = 0; i < 1e5; i++) {
  const inner = chain;
  chain = () => inner;
}
chain = null;
return "freed";
