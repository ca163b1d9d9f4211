// what: reaches the Function constructor through methods, getters and setters
// expect: finished ["EvalError","EvalError","EvalError"]
const holder = {
  method() {},
  get getter() {
    return 1;
  },
  set setter(value) {},
};
const functions = [
  holder.method,
  Object.getOwnPropertyDescriptor(holder, "getter").get,
  Object.getOwnPropertyDescriptor(holder, "setter").set,
];
return functions.map(f => {
  try {
    return typeof f.constructor("return 1")();
  } catch (error) {
    return error.name;
  }
});
