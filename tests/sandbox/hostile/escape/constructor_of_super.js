// what: walks from super to Function
// expect: failed EvalError
const object = {
  run() {
    return super.constructor.constructor("return 1")();
  },
};
return object.run();
