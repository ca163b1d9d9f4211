// what: deletes, redefines and extends the mapped arguments of a sloppy function
// expect: finished "survived"
function odd(a, b, c) {
  arguments[0] = 9;
  delete arguments[1];
  Object.defineProperty(arguments, 2, { get: () => a, configurable: true });
  arguments.length = 2 ** 31;
  a = arguments;
  b = () => c;
  arguments[1] = b;
  return [...Array.prototype.slice.call(arguments, 0, 5), b()];
}
for (let i = 0; i < 1000; i++) odd(1, { i }, [i]);
return "survived";
