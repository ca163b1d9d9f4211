// what: has own properties named constructor, prototype, eval and Function
// expect: finished {"constructor":"a firm","prototype":"a car","eval":1,"Function":2,"import":3}
const record = { constructor: "a firm", prototype: "a car", eval: 1, Function: 2 };
record["import"] = 3;
return record;
