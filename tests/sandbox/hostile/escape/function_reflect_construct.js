// what: constructs Function with another new target
// expect: failed EvalError
return Reflect.construct(Function, ["return 1"], Array)();
