// what: replaces the array iterator, so that spreading and for-of see other items
// expect: finished {"a":[1,2]}
// calls: bench.echo
Array.prototype[Symbol.iterator] = function* () {
  yield "forged";
};
return await tools.bench.echo({ a: [1, 2] });
