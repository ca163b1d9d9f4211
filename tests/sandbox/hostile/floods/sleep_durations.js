// what: sleeps for durations that are not numbers, negative, infinite or absurd
// expect: finished "awake"
for (const ms of [NaN, -1, -Infinity, Infinity, 1e300, "soon", null, undefined, {}, [5], true]) await sleep(ms);
return "awake";
