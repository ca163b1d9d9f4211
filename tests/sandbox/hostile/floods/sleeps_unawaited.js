// what: starts sleeps without end and without waiting
// expect: failed too_many_waits | exceeded engine_seconds
for (;;) sleep(1e9);
