// what: declares variables, parameters and labels with names that engines treat specially
// expect: finished 6
var arguments_ = 1, async = 2, of = 3, get = 4;
const f = (let_, yield_ = async) => yield_ + of;
of: for (const of of [1]) continue of;
return async + get * (f(1) - 4);
