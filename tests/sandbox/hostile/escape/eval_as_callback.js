// what: lets native code call eval with text
// expect: failed EvalError
return ["1 + 1"].map(eval);
