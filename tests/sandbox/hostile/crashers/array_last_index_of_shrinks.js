// what: shortens an array while lastIndexOf coerces its start
// expect: finished [-1,-1,false]
const make = () => new Array(10000).fill(1.5);
const run = name => {
  const list = make();
  return list[name](7, { valueOf: () => ((list.length = 1), name === "lastIndexOf" ? 9999 : 1) });
};
return [run("lastIndexOf"), run("indexOf"), run("includes")];
