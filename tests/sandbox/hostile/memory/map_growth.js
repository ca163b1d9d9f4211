// what: fills a map whose keys are numbers
// expect: exceeded heap_bytes
const map = new Map();
for (let i = 0; ; i++) map.set(i, i);
