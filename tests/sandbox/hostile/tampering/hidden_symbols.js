// what: looks for symbols of the host's machinery on the global object and the tools
// expect: finished 0
// calls: bench.echo
const symbols = [globalThis, tools, tools.bench, tools.bench.echo, show, console, store]
  .flatMap(object => Object.getOwnPropertySymbols(object))
  .filter(symbol => symbol !== Symbol.toStringTag);
return symbols.length;
