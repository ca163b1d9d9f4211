// what: advances and closes an iterator helper from its own callback
// expect: finished "survived"
const helper = [1, 2, 3, 4].values().map(value => {
  for (const verb of ["next", "return"]) {
    try {
      helper[verb]();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return value;
});
helper.next();
helper.next();
const flat = [1].values().flatMap(() => flat);
try {
  flat.next();
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
}
return "survived";
