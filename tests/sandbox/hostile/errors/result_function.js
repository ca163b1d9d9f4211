// what: returns a function, which JSON cannot hold
// expect: finished null
return () => 1;
