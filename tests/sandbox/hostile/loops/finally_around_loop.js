// what: tries to turn the interrupt into a normal return from a finally block
// expect: exceeded engine_seconds
function spin() {
  try {
    for (;;);
  } finally {
    return "survived";
  }
}
return spin();
