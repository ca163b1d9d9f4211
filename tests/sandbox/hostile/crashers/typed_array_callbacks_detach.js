// what: detaches the buffer from the callbacks of every iterating method
// expect: finished "survived"
for (const name of ["forEach", "map", "filter", "every", "some", "find", "findLast", "findIndex", "reduce", "reduceRight"]) {
  const view = new Float64Array(512).fill(1);
  view[name](() => {
    if (!view.buffer.detached) view.buffer.transfer(0);
    return 1;
  });
}
return "survived";
