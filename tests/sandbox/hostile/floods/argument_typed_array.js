// what: passes typed arrays, buffers, maps, sets, dates and regular expressions
// expect: finished "sent"
// calls: bench.echo
for (const value of [new Uint8Array(10), new ArrayBuffer(10), new DataView(new ArrayBuffer(4)), new Map([[1, 2]]), new Set([1]), new Date(0), /x/g, 1n, Symbol.iterator, () => 1]) {
  try {
    await tools.bench.echo({ value });
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
  }
}
return "sent";
