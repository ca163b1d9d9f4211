// what: defines and calls methods named import, export, eval and require
// expect: finished ["a","b","c","d"]
const loader = {
  import(name) {
    return name;
  },
  export: name => name,
  eval: name => name,
  require: name => name,
};
return [loader.import("a"), loader.export("b"), loader.eval("c"), loader.require("d")];
