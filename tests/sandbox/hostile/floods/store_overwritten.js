// what: overwrites one key many times, which must not count as growth
// expect: finished 999
for (let i = 0; i < 1000; i++) store("key", { i, pad: "x".repeat(1000) });
return load("key").i;
