// what: throws a proxy of an error whose every trap throws
// expect: failed Thrown
const refuse = () => {
  throw new Error("trapped");
};
throw new Proxy(new Error("inner"), {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
  getOwnPropertyDescriptor: refuse,
});
