// what: lets Error.prepareStackTrace throw and spin while the host describes an error
// expect: failed Error
Error.prepareStackTrace = () => {
  throw new Error("from prepareStackTrace");
};
throw new Error("first");
