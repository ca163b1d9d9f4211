// what: wraps every reachable built-in with a spy and counts how often host code calls one of them
// expect: finished [{"a":1},[]]
// calls: bench.echo
"use strict";
const seen = [];
const apply = Reflect.apply;
let armed = false;
for (const owner of [Object, Reflect, JSON, Promise, Array, Array.prototype, String.prototype, Map.prototype, Function.prototype, RegExp.prototype]) {
  for (const key of Object.getOwnPropertyNames(owner)) {
    const real = Object.getOwnPropertyDescriptor(owner, key).value;
    if (typeof real !== "function" || key === "constructor" || key === "prototype") continue;
    owner[key] = function (...args) {
      if (armed) seen[seen.length] = key;
      return apply(real, this, args);
    };
  }
}
armed = true;
const promise = tools.bench.echo({ a: 1 });
show({ b: 2 });
console.log("text", { c: 3 });
store("key", [1]);
load("key");
const answer = await promise;
armed = false;
return [answer, seen];
