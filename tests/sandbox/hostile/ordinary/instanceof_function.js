// what: tests values with instanceof Function and typeof
// expect: finished [true,true,true,false]
const isFunction = value => value instanceof Function;
return [isFunction(() => 1), isFunction(class {}), isFunction(Math.max), isFunction({})];
