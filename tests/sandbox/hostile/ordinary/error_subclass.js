// what: sets this.name in an error subclass, which frozen prototypes would forbid
// expect: finished ["NotFound","no such file",true,true]
class NotFound extends Error {
  constructor(message) {
    super(message);
    this.name = "NotFound";
  }
}
try {
  throw new NotFound("no such file");
} catch (error) {
  return [error.name, error.message, error instanceof NotFound, error instanceof Error];
}
