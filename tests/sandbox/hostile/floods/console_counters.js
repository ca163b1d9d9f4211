// what: starts counters and timers under endless names
// expect: exceeded heap_bytes | exceeded engine_seconds
for (let i = 0; ; i++) {
  console.count?.("counter " + i);
  console.time?.("timer " + i);
}
