// what: lets the species constructor of slice return a view that overlaps the source
// expect: finished "survived"
const bytes = new Uint8Array(4096).map((_, i) => i);
bytes.constructor = { [Symbol.species]: function (length) { return new Uint8Array(bytes.buffer, 1, length); } };
bytes.slice(0, 4000);
bytes.constructor = { [Symbol.species]: function () { return new Float64Array(bytes.buffer); } };
bytes.slice(0, 500);
return "survived";
