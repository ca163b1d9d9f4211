// what: extends Function, so that super() compiles text
// expect: failed EvalError
class Sneaky extends Function {
  constructor() {
    super("return 1");
  }
}
return new Sneaky()();
