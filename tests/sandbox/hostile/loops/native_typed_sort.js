// what: sorts ever the same large typed array in native code
// expect: exceeded engine_seconds
const values = new Float64Array(1 << 20);
for (;;) {
  for (let i = 0; i < values.length; i += 97) values[i] = -i;
  values.sort();
}
