// what: throws again while resources are disposed of after an error
// expect: failed SuppressedError
{
  using resource = {
    [Symbol.dispose]() {
      throw new Error("second");
    },
  };
  throw new Error("first");
}
