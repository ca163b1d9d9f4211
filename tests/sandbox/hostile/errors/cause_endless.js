// what: throws an error whose cause getter makes a new cause each time
// expect: failed Error
const make = () => {
  const error = new Error("again");
  Object.defineProperty(error, "cause", { get: make });
  return error;
};
throw make();
