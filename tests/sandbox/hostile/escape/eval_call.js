// what: reaches eval through call, apply, bind and Reflect
// expect: finished ["EvalError","EvalError","EvalError","EvalError"]
const names = [];
for (const attempt of [() => eval.call(null, "1"), () => eval.apply(null, ["1"]), () => eval.bind(null, "1")(), () => Reflect.apply(eval, null, ["1"])]) {
  try {
    names.push(typeof attempt());
  } catch (error) {
    names.push(error.name);
  }
}
return names;
