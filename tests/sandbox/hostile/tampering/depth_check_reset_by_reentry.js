// what: shows a value from inside each level of another, to confuse a check that counts levels
// expect: failed too_deep
// calls: bench.echo
const nest = levels => ({
  get inner() {
    show({});
    return levels ? nest(levels - 1) : 1;
  },
});
return await tools.bench.echo(nest(150));
