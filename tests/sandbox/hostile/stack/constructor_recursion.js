// what: constructs itself in a field initialiser
// expect: failed RangeError
class Node {
  child = new Node();
}
return new Node();
