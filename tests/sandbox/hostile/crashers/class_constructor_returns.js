// what: returns other objects from constructors and reads private fields on them
// expect: finished ["TypeError",7]
class Base {
  constructor(object) {
    return object;
  }
}
class Stamp extends Base {
  #mark = 7;
  static read(object) {
    return object.#mark;
  }
}
const target = {};
new Stamp(target);
const names = [];
try {
  new Stamp(target);
} catch (error) {
  names.push(error.name);
}
return [...names, Stamp.read(target)];
