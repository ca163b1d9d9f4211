// what: hides a dynamic import in a class field
// expect: failed SyntaxError
class Loader {
  module = import("std");
}
return typeof new Loader().module;
