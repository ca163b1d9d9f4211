// what: sorts inside the comparator of a sort
// expect: failed RangeError
const dive = () => [2, 1].sort(dive).length;
return dive();
