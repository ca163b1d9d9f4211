// what: constructs, changes and leaks a class from its own field initialisers
// expect: finished "survived"
let leaked;
let depth = 0;
class Node {
  first = (leaked = this);
  #secret = depth++ < 50 ? new Node() : null;
  [(Object.getOwnPropertyNames({}), "computed")] = this.#secret;
  static made = [new Node()];
  last = delete this.first;
}
new Node();
if (!("computed" in leaked)) throw new Error("field lost");
return "survived";
