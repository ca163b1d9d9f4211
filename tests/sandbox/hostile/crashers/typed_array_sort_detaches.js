// what: detaches the buffer of a typed array from the comparator of its sort
// expect: finished 0
const view = new Uint32Array(256).map((_, i) => 256 - i);
view.sort((a, b) => {
  view.buffer.detached || view.buffer.transfer();
  return a - b;
});
return view.length;
