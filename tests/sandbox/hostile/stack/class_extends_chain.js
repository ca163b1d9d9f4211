// what: constructs a class at the end of ten thousand extends clauses
// expect: failed RangeError
let Base = class {};
for (let i = 0; i < 10000; i++) Base = class extends Base {};
return new Base();
