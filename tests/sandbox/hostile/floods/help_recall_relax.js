// what: asks the host for help, handles and relief without end
// expect: failed too_many_waits | exceeded engine_seconds
for (let i = 0; ; i++) {
  help("x".repeat(1000) + i);
  recall("handle " + i);
  relax("reason " + i);
}
