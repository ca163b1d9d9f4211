// what: bounces a rejection between catch handlers that always throw again
// expect: exceeded engine_seconds | exceeded jobs | exceeded heap_bytes
const bounce = promise => promise.catch(error => bounce(Promise.reject(error)));
bounce(Promise.reject(new Error("ball")));
for (;;) await bounce.length;
