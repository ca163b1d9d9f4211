// what: uses labels and identifiers that look like keywords
// expect: finished [0,2]
const seen = [];
evaluate: for (const i of [0, 1, 2]) {
  importer: for (;;) {
    if (i === 1) continue evaluate;
    break importer;
  }
  seen.push(i);
}
return seen;
