// what: uses accessors, static blocks, private fields and symbols
// expect: finished [20,"20 degrees",1]
class Temperature {
  #celsius = 0;
  static made = 0;
  static {
    Temperature.made = 0;
  }
  constructor(celsius) {
    this.celsius = celsius;
    Temperature.made++;
  }
  get celsius() {
    return this.#celsius;
  }
  set celsius(value) {
    this.#celsius = value;
  }
  [Symbol.toPrimitive](hint) {
    return hint === "number" ? this.#celsius : `${this.#celsius} degrees`;
  }
}
const t = new Temperature(20);
return [+t, `${t}`, Temperature.made];
