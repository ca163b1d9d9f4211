// what: throws an error subclass with hostile conversions
// expect: failed Sneaky
class Sneaky extends Error {
  name = "Sneaky";
  toString() {
    throw new Error("toString");
  }
  toJSON() {
    throw new Error("toJSON");
  }
}
throw new Sneaky("quiet");
