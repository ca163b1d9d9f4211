// what: checks that the powerless Function still works for what it may be used for
// expect: finished [true,true,"function","function"]
return [(() => {}) instanceof Function, Function.prototype === Object.getPrototypeOf(show), typeof Function, typeof eval];
