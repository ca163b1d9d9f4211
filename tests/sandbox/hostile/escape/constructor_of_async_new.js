// what: constructs the hidden function constructors with new and with Reflect.construct
// expect: finished ["EvalError","EvalError","EvalError","EvalError","EvalError","EvalError"]
const names = [];
for (const f of [async () => {}, function* () {}, async function* () {}]) {
  const Hidden = Object.getPrototypeOf(f).constructor;
  for (const attempt of [() => new Hidden("1"), () => Reflect.construct(Hidden, ["1"])]) {
    try {
      names.push(typeof attempt());
    } catch (error) {
      names.push(error.name);
    }
  }
}
return names;
