// what: multiplies very long integers, each product being one native call
// expect: exceeded engine_seconds
const long = 7n ** 150000n;
for (;;) long * long;
