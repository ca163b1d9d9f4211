// what: returns numbers that JSON cannot hold
// expect: finished [null,null,null,0]
return [NaN, Infinity, -Infinity, -0];
