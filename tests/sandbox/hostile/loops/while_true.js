// what: spins in the plainest endless loop
// expect: exceeded engine_seconds
while (true) {}
