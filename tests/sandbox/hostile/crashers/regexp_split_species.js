// what: lets the species constructor of split return patterns that lie about their matches
// expect: finished "survived"
let calls = 0;
class Liar extends RegExp {
  static get [Symbol.species]() {
    return function () {
      return {
        lastIndex: 0,
        exec() {
          this.lastIndex = calls++ % 2 ? 1e9 : 1;
          return calls > 50 ? null : { length: 2 ** 10, index: -5, 0: "" };
        },
      };
    };
  }
}
"abcdef".split(new Liar("x"));
return "survived";
