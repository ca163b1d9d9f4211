// what: shrinks the buffer of a data view while the offset is being coerced
// expect: finished "survived"
for (const name of ["getFloat64", "setFloat64", "getBigInt64", "setUint8", "getInt32"]) {
  const buffer = new ArrayBuffer(64, { maxByteLength: 64 });
  const view = new DataView(buffer, 8);
  const offset = { valueOf: () => (buffer.resize(10), 40) };
  try {
    view[name](offset, { valueOf: () => (buffer.resize(0), 1) });
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
  }
}
return "survived";
