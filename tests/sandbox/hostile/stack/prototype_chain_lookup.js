// what: looks up a missing property through a hundred thousand prototypes
// expect: finished null
let object = {};
for (let i = 0; i < 1e5; i++) object = Object.create(object);
return object.missing ?? null;
