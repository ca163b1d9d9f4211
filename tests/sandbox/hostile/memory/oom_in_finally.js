// what: runs out of memory again in the finally block of the first failure
// expect: exceeded heap_bytes
const kept = [];
try {
  for (;;) kept.push(new Array(1000).fill(0));
} finally {
  for (;;) kept.push([0]);
}
