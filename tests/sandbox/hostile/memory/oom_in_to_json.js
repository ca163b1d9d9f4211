// what: runs out of memory while the host turns the result into text
// expect: exceeded heap_bytes
return {
  toJSON() {
    const kept = [];
    for (;;) kept.push(new Array(1000).fill(0));
  },
};
