// what: calls and constructs Function through a proxy
// expect: failed EvalError
return new (new Proxy(Function, {}))("return 1")();
