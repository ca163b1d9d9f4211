// what: logs an object whose every conversion spins
// expect: finished null
const spin = () => {
  for (;;);
};
console.log({ toString: spin, valueOf: spin, toJSON: spin, [Symbol.toPrimitive]: spin });
