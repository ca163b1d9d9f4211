// what: removes bindings from the object of a with statement while they are being assigned
// expect: finished "survived"
var outside = 1;
const scope = { outside: 2 };
with (scope) {
  outside = (delete scope.outside, 3);
  outside += ((scope.outside = 10), delete scope.outside, 1);
  typeof outside;
}
return "survived";
