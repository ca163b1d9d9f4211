// what: passes an argument whose getter answers differently each time it is read
// expect: finished {"path":1}
// calls: bench.echo
let reads = 0;
return await tools.bench.echo({
  get path() {
    return ++reads;
  },
});
