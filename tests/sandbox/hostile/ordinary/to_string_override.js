// what: overrides toString, valueOf and toJSON on its own objects
// expect: finished ["Money 5",10,{"cents":500}]
class Money {
  constructor(amount) {
    this.amount = amount;
  }
  toString() {
    return `Money ${this.amount}`;
  }
  valueOf() {
    return this.amount;
  }
  toJSON() {
    return { cents: this.amount * 100 };
  }
}
const money = new Money(5);
return [String(money), money * 2, money];
