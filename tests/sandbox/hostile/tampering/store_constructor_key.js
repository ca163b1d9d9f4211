// what: loads names that every object inherits and that were never stored
// expect: finished [true,true,true]
return ["constructor", "toString", "hasOwnProperty"].map(name => load(name) === undefined || load(name) === null);
