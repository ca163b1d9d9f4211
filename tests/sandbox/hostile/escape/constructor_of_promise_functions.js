// what: reaches the Function constructor through the resolve function of a promise
// expect: failed EvalError
let settle;
new Promise(resolve => (settle = resolve));
return settle.constructor("return 1")();
