// what: recurses through Reflect.apply, call and bound functions in turn
// expect: failed RangeError
const dive = () => Reflect.apply(Function.prototype.call, bound, [null]);
const bound = dive.bind(null);
return dive();
