// what: returns a symbol, which JSON cannot hold
// expect: finished null
return Symbol("result");
