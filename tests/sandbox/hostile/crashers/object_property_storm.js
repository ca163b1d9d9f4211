// what: adds, deletes and redefines properties so that the hidden shapes of objects churn
// expect: finished "survived"
const object = {};
for (let i = 0; i < 20000; i++) {
  object["p" + (i % 300)] = i;
  if (i % 3 === 0) delete object["p" + ((i * 7) % 300)];
  if (i % 5 === 0) Object.defineProperty(object, "p" + (i % 300), { get: () => i, configurable: true });
  if (i % 1000 === 0) Object.setPrototypeOf(object, i % 2000 ? { i } : null);
}
return "survived";
