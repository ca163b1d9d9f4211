// what: writes constructors and inheritance in the old style, with call, apply and prototype
// expect: finished ["Rex barks",true,"function"]
function Animal(name) {
  this.name = name;
}
Animal.prototype.speak = function (verb) {
  return this.name + " " + verb;
};
function Dog() {
  Animal.apply(this, arguments);
}
Dog.prototype = Object.create(Animal.prototype);
Dog.prototype.constructor = Dog;
const rex = new Dog("Rex");
return [rex.speak.call(rex, "barks"), rex instanceof Animal, typeof Dog.prototype.constructor];
