// what: jumps out of nested finally blocks by break, continue, return and throw
// expect: finished 8
function* jump() {
  for (let i = 0; i < 10; i++) {
    outer: try {
      try {
        if (i % 2) throw i;
        yield i;
        continue;
      } finally {
        if (i % 3 === 0) break outer;
      }
    } catch {
      yield i;
    } finally {
      if (i > 100) return;
    }
  }
}
let count = 0;
for (const value of jump()) count++;
for (const value of jump()) break;
return count;
