// what: swallows an error by returning from a finally block, which is legal
// expect: finished "swallowed"
try {
  throw new Error("first");
} finally {
  return "swallowed";
}
