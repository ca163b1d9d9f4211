// what: passes a value whose getters make a deeper one each time
// expect: failed too_deep
// calls: bench.echo
const deeper = () => ({
  get next() {
    return deeper();
  },
});
await tools.bench.echo(deeper());
