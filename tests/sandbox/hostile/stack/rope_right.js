// what: compares ropes that lean to the right over a hundred thousand nodes
// expect: finished true
const build = () => {
  let rope = "x";
  for (let i = 0; i < 1e5; i++) rope = "abc" + rope;
  return rope;
};
return build() === build();
