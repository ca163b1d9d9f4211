// what: empties an array from the callbacks of every iterating method
// expect: finished "survived"
for (const name of ["forEach", "map", "filter", "every", "some", "find", "findLast", "flatMap", "reduce", "reduceRight", "sort", "toSorted"]) {
  const list = Array.from({ length: 1000 }, (_, i) => ({ i }));
  list[name](() => {
    list.length = 0;
    list.push("x");
    return 1;
  });
}
return "survived";
