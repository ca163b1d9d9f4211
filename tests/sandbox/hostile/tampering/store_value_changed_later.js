// what: changes an object after storing it
// expect: finished {"n":1}
const value = { n: 1 };
store("value", value);
value.n = 2;
return load("value");
