// what: lets Error.prepareStackTrace spin while an error is made
// expect: failed Error
Error.prepareStackTrace = () => {
  for (;;);
};
throw new Error("first");
