// what: throws an object whose conversions all spin
// expect: failed | exceeded engine_seconds
const spin = () => {
  for (;;);
};
throw { toString: spin, valueOf: spin, toJSON: spin, [Symbol.toPrimitive]: spin };
