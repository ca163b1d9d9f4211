// what: calls methods that tools might inherit from Object.prototype as if they were tools
// expect: finished ["TypeError","TypeError","TypeError","unknown_tool","unknown_tool","unknown_tool"]
// calls: bench.echo
const results = [];
for (const name of ["constructor", "toString", "valueOf", "hasOwnProperty", "__defineGetter__", "__lookupGetter__"]) {
  try {
    results.push(typeof (await tools.bench[name]("x")));
  } catch (error) {
    results.push(error.name);
  }
}
return results;
