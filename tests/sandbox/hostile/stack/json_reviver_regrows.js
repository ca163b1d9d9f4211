// what: lets the reviver put a fresh nested array in the place that is visited next
// expect: failed RangeError
JSON.parse("[0,0]", function (key, value) {
  if (key === "0") this[1] = [0, 0];
  return value;
});
