// what: groups an endless stream, each item into a new group
// expect: exceeded heap_bytes
function* numbers() {
  for (let i = 0; ; i++) yield i;
}
return Map.groupBy(numbers(), n => n).size;
